// WireFormats
