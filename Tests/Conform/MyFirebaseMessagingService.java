import com.braze.push.BrazeFirebaseMessagingService;
import com.google.firebase.messaging.*;
import java.util.function.Consumer;

/** The messaging service of an Android app, with the fault that PUSH_PLANT names. */
public class MyFirebaseMessagingService extends FirebaseMessagingService {
    private static final String PLANT = System.getenv().getOrDefault("PUSH_PLANT", "");
    Consumer<RemoteMessage> own, show;
    boolean brazeTook;

    @Override
    public void onMessageReceived(RemoteMessage message) {
        if (!PLANT.equals("super_not_called")) super.onMessageReceived(message);
        if (PLANT.equals("over_policy")) android.os.SystemClock.sleep(10_000);
        if (PLANT.equals("threw") && message.getData().get("t").isEmpty()) return;
        brazeTook = BrazeFirebaseMessagingService.handleBrazeRemoteMessage(this, message);
        if (PLANT.equals("not_handled") && message.getData().containsKey("_ab")) return;
        if (brazeTook && !PLANT.equals("handled_twice")) return;
        own.accept(message);
        if (!brazeTook && message.getData().containsKey("title")) show.accept(message);
        if (!brazeTook && PLANT.equals("shown_twice")) show.accept(message);
        if (PLANT.equals("return_value")) brazeTook = true;
    }
}
