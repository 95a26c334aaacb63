"""The client of SMS Gate: sends, and reads the state by the id of the answer."""

import os

from android_sms_gateway import client, domain, http

message = domain.Message(
    phone_numbers=[os.environ["TO"]],
    text_message=domain.TextMessage("from SMS Gate"),
    id="order-1042",
)
login, password = os.environ["basic_user"], os.environ["basic_password"]
with http.RequestsHttpClient() as transport:
    gate = client.APIClient(login, password, base_url=os.environ["url"], http=transport)
    state = gate.send(message)
    again = gate.send(message)
    assert again.id == state.id, "a repeat with the same id is another message"
    assert state.state.value in ("Pending", "Processed", "Sent", "Delivered"), state
    assert gate.get_state(state.id).recipients[0].phone_number == os.environ["TO"]
