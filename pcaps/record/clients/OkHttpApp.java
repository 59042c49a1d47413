// The app on OkHttp. Same line protocol as http2-client.js; besides it prints, once a connection,
// `secret TAB LOCAL-PORT TAB hex`: the TLS 1.2 master secret; the recorder pairs it with that port's ClientHello.
// Needs --add-opens java.base/sun.security.ssl=ALL-UNNAMED. Argument: the PEM file of the certificate authority.

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.SecretKey;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

public final class OkHttpApp {
    private static final Set<Integer> told = ConcurrentHashMap.newKeySet();

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static String encode(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    private static void tellSecret(Socket socket) {
        if (!(socket instanceof SSLSocket) || !told.add(socket.getLocalPort())) return;
        SSLSession session = ((SSLSocket) socket).getSession();
        if (!session.getProtocol().equals("TLSv1.2")) return;
        try {
            Method secret = session.getClass().getDeclaredMethod("getMasterSecret");
            secret.setAccessible(true);
            byte[] bytes = ((SecretKey) secret.invoke(session)).getEncoded();
            StringBuilder hex = new StringBuilder();
            for (byte b : bytes) hex.append(String.format("%02x", b));
            say("secret\t" + socket.getLocalPort() + "\t" + hex);
        } catch (ReflectiveOperationException error) {
            say("0\terror\t" + encode(error.toString().getBytes(StandardCharsets.UTF_8)));
        }
    }

    public static void main(String[] arguments) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (FileInputStream pem = new FileInputStream(arguments[0])) {
            store.setCertificateEntry("lab", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {trust.getTrustManagers()[0]}, new SecureRandom());
        OkHttpClient client = new OkHttpClient.Builder()
            .sslSocketFactory(context.getSocketFactory(), (X509TrustManager) trust.getTrustManagers()[0])
            .addNetworkInterceptor(chain -> {
                tellSecret(chain.connection().socket());
                return chain.proceed(chain.request());
            })
            .build();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] part = line.split("\t", -1);
            Request.Builder request = new Request.Builder().url(part[2]);
            String type = null;
            for (String field : new String(Base64.getDecoder().decode(part[3]), StandardCharsets.UTF_8).split("\n")) {
                int colon = field.indexOf(':');
                if (colon < 0) continue;
                String name = field.substring(0, colon), value = field.substring(colon + 1).trim();
                if (name.equalsIgnoreCase("content-type")) type = value;
                else request.header(name, value);
            }
            byte[] body = Base64.getDecoder().decode(part[4]);
            boolean hasBody = part[1].equals("POST");
            MediaType media = type == null ? null : MediaType.parse(type);
            request.method(part[1], hasBody ? RequestBody.create(media, body) : null);
            client.newCall(request.build()).enqueue(new Callback() {
                @Override public void onFailure(Call call, IOException error) {
                    say(part[0] + "\terror\t" + encode(error.toString().getBytes(StandardCharsets.UTF_8)));
                }

                @Override public void onResponse(Call call, Response response) throws IOException {
                    byte[] received = response.body().bytes();
                    byte[] fields = response.headers().toString().getBytes(StandardCharsets.UTF_8);
                    say(part[0] + "\t" + response.code() + "\t" + encode(fields) + "\t" + encode(received));
                }
            });
        }
        client.connectionPool().evictAll();
        client.dispatcher().executorService().shutdown();
        System.exit(0);
    }
}
