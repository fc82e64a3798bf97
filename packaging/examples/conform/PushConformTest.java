// Runs the cases of push-cases.jsonl against an app's messaging service, with JUnit 4, Robolectric and Mockito.
//     pushctl conform cases --platform android --providers braze >push-cases.jsonl
// It writes push-results.jsonl for "pushctl conform judge". The tests of pushrouterd run it with stand-ins of all that it
// imports beside the JDK; with the real ones it was not run here.
import static org.mockito.ArgumentMatchers.any;

import android.os.SystemClock;
import com.braze.push.BrazeFirebaseMessagingService;
import com.google.firebase.messaging.RemoteMessage;
import java.nio.file.*;
import java.util.*;
import java.util.regex.Pattern;
import org.json.*;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.mockito.*;
import org.robolectric.*;

@RunWith(RobolectricTestRunner.class)
public class PushConformTest {
    private static final class Seen {
        final JSONArray owners = new JSONArray(), shown = new JSONArray();
        Boolean returned, superCalled;
        String skipped, thrown;
        long elapsed = -SystemClock.elapsedRealtime();
    }

    // FILL IN: make your service, and note who gets the message. This one has two fields for the test: "own" gets what is
    // not Braze's, "show" shows a notification. Braze's method is stood in for, by the test of its SDK.
    private static void run(JSONObject one, Seen seen) throws Exception {
        if (!one.isNull("notification")) { seen.skipped = "RemoteMessage.Builder makes none"; return; }
        RemoteMessage.Builder builder = new RemoteMessage.Builder("1017@fcm.googleapis.com");
        JSONObject data = one.getJSONObject("data");
        List<String> keys = new ArrayList<>();
        data.keys().forEachRemaining(keys::add);
        for (String key : keys) builder.addData(key, data.getString(key));
        if (one.has("message_id")) builder.setMessageId(one.getString("message_id"));
        MyFirebaseMessagingService service = Robolectric.setupService(MyFirebaseMessagingService.class);
        service.own = message -> seen.owners.put("own");
        service.show = message -> seen.shown.put("own");
        try (MockedStatic<?> braze = Mockito.mockStatic(BrazeFirebaseMessagingService.class)) {
            braze.when(() -> BrazeFirebaseMessagingService.handleBrazeRemoteMessage(any(), any())).thenAnswer(call -> {
                boolean takes = "true".equals(((RemoteMessage) call.getArgument(1)).getData().get("_ab"));
                if (takes) seen.owners.put("braze");
                return takes;
            });
            service.onMessageReceived(builder.build());
        }
        seen.returned = service.brazeTook; // Your code's copy of Braze's answer; leave it out if you cannot tell.
        // seen.superCalled: false if your service has a super method to call, and did not call it.
    }

    // The differences; "pushctl conform judge" has the rules.
    private static List<String> faults(JSONObject want, Seen seen) throws JSONException {
        if (seen.thrown != null) return List.of("threw " + seen.thrown);
        List<String> found = new ArrayList<>();
        String owners = seen.owners.length() == 1 ? seen.owners.getString(0) : seen.owners.toString();
        if (!want.isNull("owner") && !owners.equals(want.getString("owner")))
            found.add("owners: " + owners + ", wanted " + want.getString("owner"));
        if (seen.returned != null && !want.isNull("returned") && seen.returned != want.getBoolean("returned"))
            found.add("returned: " + seen.returned + ", wanted " + want.getBoolean("returned"));
        boolean sdkShows = want.getJSONObject("shown").getString("by").equals("sdk");
        if (seen.shown.length() > (sdkShows ? 0 : 1)) found.add("shown twice, by " + seen.shown);
        if (seen.elapsed >= want.getLong("deadline_ms")) found.add("took " + seen.elapsed + " ms");
        return found;
    }

    @Test
    public void conforms() throws Exception {
        Path path = Path.of("push-cases.known"); // Lines NAME: reason; a * in NAME stands for any text.
        List<String> known = new ArrayList<>(Files.exists(path) ? Files.readAllLines(path) : List.of());
        known.removeIf(line -> line.startsWith("#") || !line.contains(": "));
        Set<String> unused = new TreeSet<>(known);
        List<String> results = new ArrayList<>(), wrong = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("push-cases.jsonl"))) {
            JSONObject one = new JSONObject(line);
            String name = one.has("name") ? one.getString("name") : "";
            List<String> about = known.stream().filter(entry ->
                name.matches(Pattern.quote(entry.split(": ")[0]).replace("*", "\\E.*\\Q"))).toList();
            unused.removeAll(about);
            if (!one.has("data") || one.isNull("callback")) continue;
            Seen seen = new Seen();
            try { run(one, seen); } catch (Throwable error) { seen.thrown = error.toString(); }
            seen.elapsed += SystemClock.elapsedRealtime();
            JSONObject result = new JSONObject().put("name", name);
            if (seen.skipped != null) { results.add(result.put("skipped", seen.skipped).toString()); continue; }
            results.add(result.put("owners", seen.owners).put("shown", seen.shown).put("returned", seen.returned)
                .put("super_called", seen.superCalled).put("thrown", seen.thrown).put("elapsed_ms", seen.elapsed) + "");
            List<String> found = faults(one.getJSONObject("want"), seen);
            if (found.isEmpty() == about.isEmpty()) continue;
            wrong.add(name + ": " + (about.isEmpty() ? found : "passes, and is known: " + about)
                + "\n  why: " + one.getJSONArray("why") + "\n  " + one.getString("explain"));
        }
        Files.write(Path.of("push-results.jsonl"), results);
        for (String entry : unused) wrong.add("push-cases.known: no case is about this: " + entry);
        if (results.isEmpty() || !wrong.isEmpty())
            throw new AssertionError(results.size() + " cases\n" + String.join("\n", wrong));
    }
}
