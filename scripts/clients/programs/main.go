// Runs within the module that openapi-generator makes.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"strings"

	api "example.com/hookline/client"
)

func check(what string, isRight bool) {
	if !isRight {
		log.Fatalf("%s went wrong", what)
	}
}

func must(what string, err error) {
	if err != nil {
		log.Fatalf("%s: %v", what, err)
	}
}

func main() {
	configuration := api.NewConfiguration()
	configuration.Servers = api.ServerConfigurations{{URL: os.Getenv("API_URL")}}
	keys := map[string]api.APIKey{
		"apiKey":    {Key: os.Getenv("API_KEY")},
		"apiSecret": {Key: os.Getenv("API_SECRET")},
	}
	ctx := context.WithValue(context.Background(), api.ContextAPIKeys, keys)
	client := api.NewAPIClient(configuration)

	request := *api.NewSendRequest("+12025550147")
	request.SetText("Hello")
	sent, _, err := client.MessagesAPI.SendMessage(ctx).SendRequest(request).Execute()
	must("send", err)
	check("send", strings.HasPrefix(sent.Id, "msg_") && *sent.Status.String == "later")

	listed, _, err := client.MessagesAPI.ListMessages(ctx).Limit(10).Execute()
	must("list", err)
	isListed := false
	for _, message := range listed.Data {
		isListed = isListed || message.Id == sent.Id && *message.Status.String == "later"
	}
	check("list", isListed)

	request = *api.NewSendRequest("nobody")
	request.SetText("Hello")
	_, response, err := client.MessagesAPI.SendMessage(ctx).SendRequest(request).Execute()
	check("400", err != nil && response.StatusCode == 400)
	var failure *api.GenericOpenAPIError
	check("400", errors.As(err, &failure))
	answer, isAnswer := failure.Model().(api.ErrorAnswer)
	check("code", isAnswer && *answer.Error.Code.ErrorCode == "invalid_recipient")

	events := []api.EventName{"message.received"}
	creation := *api.NewWebhookCreation("http://127.0.0.1:9/hook", events)
	webhook, _, err := client.WebhooksAPI.CreateWebhook(ctx).WebhookCreation(creation).Execute()
	must("webhook", err)
	check("webhook", strings.HasPrefix(webhook.Secret, "whsec_"))
	check("events", *webhook.Events[len(webhook.Events)-1].String == "message.later")

	// Without any, this generator sends `null`, which is no object.
	nothing := *api.NewKeyCreation()
	key, _, err := client.KeysAPI.CreateKey(ctx).KeyCreation(nothing).Execute()
	must("key", err)
	check("key", strings.HasPrefix(key.Key, "hl_live_"))
}
