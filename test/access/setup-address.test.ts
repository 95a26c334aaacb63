import { expect, test } from 'bun:test'

import { setupAddresses } from '../../src/access/setup-link.ts'

for (const [listeningUrl, publicUrl, url, lanUrl] of [
  ['http://127.0.0.1:4665', null, 'http://127.0.0.1:4665/#/setup/T', null],
  ['http://192.168.1.5:80', null, 'http://192.168.1.5:80/#/setup/T', null],
  ['http://[::1]:4665', null, 'http://[::1]:4665/#/setup/T', null],
  [
    'http://0.0.0.0:4665',
    null,
    'http://127.0.0.1:4665/#/setup/T',
    'http://mini.local:4665/#/setup/T',
  ],
  ['http://[::]:4665', null, 'http://127.0.0.1:4665/#/setup/T', 'http://mini.local:4665/#/setup/T'],
  ['http://0.0.0.0:80', null, 'http://127.0.0.1/#/setup/T', 'http://mini.local/#/setup/T'],
  ['http://0.0.0.0:4665', 'https://relay.example.com', 'https://relay.example.com/#/setup/T', null],
] as const) {
  test(`a relay at ${publicUrl ?? listeningUrl} is set up at ${url}`, () => {
    const addresses = setupAddresses('T', { listeningUrl, publicUrl, localName: 'mini.local' })

    expect(addresses).toEqual({ url, lanUrl })
  })
}
