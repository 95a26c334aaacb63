import json
import subprocess
import unittest
from urllib.request import Request, urlopen

from booking_bot import Bot

command = ["hookline", "fake", "--port", "0", "--seed", "1", "--print", "json"]
fake = json.loads(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.readline())
headers = {"X-API-Key": fake["key"], "X-API-Secret": fake["secret"], "Content-Type": "application/json"}

def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{fake['url']}/api/v1/{path}", data, headers, method=method)) as answer:
        return json.load(answer)

def texts(query=""):
    return [one["text"] for one in call("GET", f"simulated/outbox?{query}")["data"]]

class BookingTest(unittest.TestCase):
    def setUp(self):
        call("POST", "simulated/reset", {})
        self.bot = Bot(fake["url"], fake["key"], fake["secret"])
        call("POST", "webhooks", {"url": self.bot.url, "events": ["message.received"]})
        yes = {"number": "+12025550147", "answers": [{"contains": "Tuesday", "say": "Yes", "after_seconds": 60}]}
        call("PUT", "simulated/people", {"people": [yes, {"number": "*", "answers": [{"say": "STOP"}]}]})
    def test_a_yes_is_booked_once_whatever_the_webhook_meets(self):
        for fault in [{"fault": "delivered_twice"}, {"fault": "receiver_refuses", "times": 9}]:
            self.setUp()
            call("POST", "simulated/faults", fault)
            self.bot.offer("+12025550147")
            call("POST", "simulated/clock", {"advance": "73h"})
            self.assertEqual(texts("count=2&wait=5s"), ["A table on Tuesday?", "Booked."])
    def test_an_uncertain_offer_is_not_repeated_and_who_said_stop_gets_no_more(self):
        call("POST", "simulated/faults", {"fault": "uncertain"})
        self.assertEqual([self.bot.offer("+12025550148")["status"] for _ in range(2)], ["uncertain", "uncertain"])
        self.assertEqual([self.bot.offer("+12025550149")["status"], call("POST", "simulated/clock", {"advance": "1m"})["in_flight"]], ["sent", []])
        self.assertEqual([self.bot.remind("+12025550149")["error"]["code"], len(texts())], ["recipient_opted_out", 2])
