// Uptime Kuma's "SMS Gateway", set up as its form asks.

const SmsGateway = require('./uptime-kuma/server/notification-providers/sms-gateway.js')

const { url, api_key: smsgatewayApiKey, TO: smsgatewayTo } = process.env
const form = { smsgatewayUrl: url, smsgatewayApiKey, smsgatewayTo }

async function main() {
  const provider = new SmsGateway()
  await provider.send(form, '[down] the shop')
  const isRefused = await provider.send({ ...form, smsgatewayTo: '12' }, 'to nobody').then(
    () => false,
    () => true,
  )
  if (!isRefused) throw new Error('A refusal is taken as success.')
}

void main()
