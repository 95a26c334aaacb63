import { expect, test } from 'bun:test'

import { SETTING_NAMES, SETTINGS, parseSetting, shownSetting } from '../../src/domain/setting.ts'

const LONGEST = `https://monitor.example/${'a'.repeat(1_000 - 24)}`

const URLS: readonly (readonly [text: string, value: string | null | undefined])[] = [
  ['none', null],
  ['https://monitor.example/ping/1?status=up', 'https://monitor.example/ping/1?status=up'],
  ['HTTP://192.168.1.5:3001/push', 'http://192.168.1.5:3001/push'],
  ['https://monitor.example', 'https://monitor.example/'],
  [LONGEST, LONGEST],
  [`${LONGEST}a`, undefined],
  [`https://monitor.example/${'ä'.repeat(500)}`, undefined],
  ['monitor.example/ping', undefined],
  ['file:///etc/passwd', undefined],
  ['https://user:pass@monitor.example/', undefined],
  ['https://user@monitor.example/', undefined],
  ['https://monitor.example/#part', undefined],
  ['https://', undefined],
  ['', undefined],
]

test('the heartbeat goes to a URL without a name or a part, which can be stored and read again', () => {
  const values = URLS.map(([, value]) => value).filter((value) => typeof value === 'string')

  expect(URLS.map(([text]) => [text, parseSetting('heartbeat_url', text)])).toEqual(
    URLS.map(([text, value]) => [text, value]),
  )
  expect(values.map((value) => parseSetting('heartbeat_url', value))).toEqual(values)
})

test('of the address of the heartbeat only the host is shown', () => {
  const shown = [
    'https://monitor.example:8443/ping/s3cret',
    'http://192.168.1.5/?key=s3cret',
    'https://monitor.example/',
    'none',
  ].map((value) => shownSetting('heartbeat_url', value))

  expect(shown).toEqual([
    'https://monitor.example:8443/…',
    'http://192.168.1.5/…',
    'https://monitor.example/',
    'none',
  ])
})

test('what is no secret is shown as it is', () => {
  const open = SETTING_NAMES.filter((name) => !SETTINGS[name].isSecret)

  const shown = [...open, 'public-url'].map((name) => shownSetting(name, 'https://a.example/b'))

  expect(open).not.toContain('heartbeat_url')
  expect(new Set(shown)).toEqual(new Set(['https://a.example/b']))
})
