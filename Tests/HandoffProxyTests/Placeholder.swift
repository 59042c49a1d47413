// HandoffProxy
