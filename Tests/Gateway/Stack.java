// The HTTP stacks of Java against the gateway, by host names: HttpURLConnection as firebase-admin uses it, and java.net.http with
// HTTP/2 as APNs' clients do. Prints a line of JSON for each step.
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;

class Stack {
    static void print(String step, int status, boolean good) {
        System.out.println("{\"step\":\"" + step + "\",\"status\":" + status + ",\"good\":" + good + "}");
    }

    static int post(String token, boolean isChunked) throws Exception {
        byte[] body = ("{\"message\":{\"token\":\"" + token + "\",\"data\":{\"a\":\"b\"}}}").getBytes(StandardCharsets.UTF_8);
        URL url = new URL("https://fcm.googleapis.com/v1/projects/demo/messages:send");
        HttpURLConnection connection = (HttpURLConnection) url.openConnection();
        connection.setRequestMethod("POST");
        connection.setDoOutput(true);
        if (isChunked) connection.setChunkedStreamingMode(16);
        try (OutputStream output = connection.getOutputStream()) {
            output.write(body);
        }
        int status = connection.getResponseCode();
        (status < 400 ? connection.getInputStream() : connection.getErrorStream()).readAllBytes();
        return status;
    }

    public static void main(String[] words) throws Exception {
        int plain = post("tok1", false);
        print("HttpURLConnection", plain, plain == 200);
        int chunked = post("tok1", true);
        print("HttpURLConnection, chunked body", chunked, chunked == 200);
        int gone = post("err-UNREGISTERED", false);
        print("HttpURLConnection, an error", gone, gone == 404);

        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
        ArrayList<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int number = 0; number < 50; number++) {
            HttpRequest request = HttpRequest.newBuilder(
                    URI.create("https://api.push.apple.com/3/device/" + String.format("%064x", number)))
                .header("apns-topic", "com.example.shop").header("apns-push-type", "alert")
                .POST(HttpRequest.BodyPublishers.ofString("{\"aps\":{\"alert\":\"hi\"}}")).build();
            answers.add(client.sendAsync(request, HttpResponse.BodyHandlers.ofString()));
        }
        boolean good = true;
        for (CompletableFuture<HttpResponse<String>> answer : answers) {
            HttpResponse<String> response = answer.get();
            good = good && response.statusCode() == 200 && response.version() == HttpClient.Version.HTTP_2
                && response.headers().firstValue("apns-id").isPresent();
        }
        print("java.net.http, 50 at once over HTTP/2", 200, good);
    }
}
