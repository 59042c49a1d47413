// CaptureAnalyzer
