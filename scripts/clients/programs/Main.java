// Runs within the project that openapi-generator makes.

import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.KeysApi;
import org.openapitools.client.api.MessagesApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.EventName;
import org.openapitools.client.model.KeyCreation;
import org.openapitools.client.model.Message;
import org.openapitools.client.model.SendRequest;
import org.openapitools.client.model.WebhookCreation;

public final class Main {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("API_URL"));
    client.setRequestInterceptor(request -> request
        .header("X-API-Key", System.getenv("API_KEY"))
        .header("X-API-Secret", System.getenv("API_SECRET")));
    MessagesApi messages = new MessagesApi(client);

    SendRequest request = new SendRequest().to("+12025550147").text("Hello");
    Message sent = messages.sendMessage(
        MessagesApi.APISendMessageRequest.newBuilder().sendRequest(request).build());
    check("send", sent.getId().startsWith("msg_") && isLater(sent));

    List<Message> listed = messages
        .listMessages(MessagesApi.APIListMessagesRequest.newBuilder().limit(10).build())
        .getData();
    check("list", listed.stream().anyMatch(one -> one.getId().equals(sent.getId()) && isLater(one)));

    try {
      SendRequest toNobody = new SendRequest().to("nobody").text("Hello");
      messages.sendMessage(
          MessagesApi.APISendMessageRequest.newBuilder().sendRequest(toNobody).build());
      check("400", false);
    } catch (ApiException error) {
      check("400", error.getCode() == 400);
      check("code", error.getResponseBody().contains("\"invalid_recipient\""));
    }

    WebhookCreation creation = new WebhookCreation()
        .url(java.net.URI.create("http://127.0.0.1:9/hook"))
        .events(List.of(EventName.fromValue("message.received")));
    var webhook = new WebhooksApi(client).createWebhook(
        WebhooksApi.APICreateWebhookRequest.newBuilder().webhookCreation(creation).build());
    check("webhook", webhook.getSecret().startsWith("whsec_"));
    check("events", webhook.getEvents().stream()
        .anyMatch(event -> "message.later".equals(event.getActualInstance())));

    // Without any, this generator sends `null`, which is no object.
    KeyCreation nothing = new KeyCreation();
    var key = new KeysApi(client).createKey(
        KeysApi.APICreateKeyRequest.newBuilder().keyCreation(nothing).build());
    check("key", key.getKey().startsWith("hl_live_"));
  }

  private static boolean isLater(Message message) {
    return "later".equals(message.getStatus().getActualInstance());
  }

  private static void check(String what, boolean isRight) {
    if (!isRight) throw new IllegalStateException(what + " went wrong");
  }
}
