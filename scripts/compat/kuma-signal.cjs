// Uptime Kuma's "Signal", set up as its form asks.

const Signal = require('./uptime-kuma/server/notification-providers/signal.js')

const { url, number: signalNumber, TO: signalRecipients } = process.env

new Signal().send({ signalURL: `${url}/v2/send`, signalNumber, signalRecipients }, '[up] the shop')
