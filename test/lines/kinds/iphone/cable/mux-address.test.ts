import { expect, test } from 'bun:test'

import { muxAddress } from '../../../../../src/lines/kinds/iphone/cable/mux-connection.ts'

test('an address is taken in each form that other programs know', () => {
  const forms: readonly (string | null)[] = [
    null,
    '/run/mux',
    'UNIX:/run/mux',
    'unix:///run/mux',
    '127.0.0.1:27015',
    'tcp://farm.example:27015',
    '[::1]:27015',
  ]

  expect(forms.map(muxAddress)).toEqual([
    { path: '/var/run/usbmuxd' },
    { path: '/run/mux' },
    { path: '/run/mux' },
    { path: '/run/mux' },
    { host: '127.0.0.1', port: 27_015 },
    { host: 'farm.example', port: 27_015 },
    { host: '::1', port: 27_015 },
  ])
})

test.each([
  '',
  'UNIX:',
  'mux',
  'host:',
  'host:0',
  'host:70000',
  'udp://a:1',
  `/${'x'.repeat(103)}`,
])('the address "%s" is refused', (text) => {
  expect(() => muxAddress(text)).toThrow(RangeError)
})
