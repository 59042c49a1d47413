// Flutter on Android trusts the system's authorities alone, not the user's. This adds handoff's to a build that asks for
// it, and to no other:
//
//   handoff ca export --format pem > assets/handoff-ca.pem        (pubspec.yaml: flutter: assets: [assets/handoff-ca.pem])
//   flutter build apk --dart-define=HANDOFF_LAB=true
//
// Call it in main(), after WidgetsFlutterBinding.ensureInitialized(), before the first request.
import 'dart:io';

import 'package:flutter/services.dart' show rootBundle;

Future<void> trustTheLab() async {
  if (!const bool.fromEnvironment('HANDOFF_LAB')) return;
  final certificate = await rootBundle.load('assets/handoff-ca.pem');
  SecurityContext.defaultContext.setTrustedCertificatesBytes(certificate.buffer.asUint8List());
}
