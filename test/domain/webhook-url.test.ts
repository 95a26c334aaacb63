import { expect, test } from 'bun:test'

import { isSameUrl, withScheme } from '../../src/domain/webhook-url.ts'

function schemesOf(...hosts: readonly string[]) {
  return hosts.map((host) => withScheme(`${host}/hooks`).replace(`://${host}/hooks`, ''))
}

test('a public host without a scheme gets https', () => {
  const hosts = [
    'shop.example.com',
    'shop.example.com:8443',
    '8.8.8.8',
    '10.example.com',
    '[2606::1]',
    // Beside the private ranges.
    '172.15.0.1',
    '172.32.0.1',
    '192.169.0.1',
    '11.0.0.1',
    '100.63.0.1',
    '100.128.0.1',
  ]

  expect(schemesOf(...hosts)).toEqual(hosts.map(() => 'https'))
})

test('this machine and its own network get http', () => {
  const hosts = [
    'localhost',
    'localhost:8080',
    'crm.localhost',
    '127.0.0.1:3000',
    '[::1]:3000',
    '10.0.0.7',
    '172.16.0.1',
    '172.31.9.9',
    '192.168.1.20:5678',
    '100.101.1.2',
    '[fd00::7]',
    'nas.local',
    'NAS.local:5000',
    'n8n:5678',
  ]

  expect(schemesOf(...hosts)).toEqual(hosts.map(() => 'http'))
})

test('what has a scheme, or is no URL, stays as it was typed', () => {
  const typed = [
    '',
    'http://shop.example.com/hooks',
    'HTTPS://shop.example.com',
    'ftp://shop.example.com',
    'mailto:anna@example.com',
    'javascript:alert(1)',
    '/hooks',
    '//shop.example.com',
    'shop',
    'my shop',
    'shop.example.com:99999',
  ]

  expect(typed.map(withScheme)).toEqual(typed)
  expect(withScheme('  https://shop.example.com  ')).toBe('https://shop.example.com')
})

test('two spellings of one place are the same URL, and others are not', () => {
  const url = 'https://shop.example/a~b?q=%C3%BC'
  const same = [
    'HTTPS://SHOP.example/a~b?q=%C3%BC',
    'https://shop.example:443/a%7Eb?q=%c3%bc#top',
    'https://shop.example/x/../a~b?q=ü',
  ]
  const others = ['http://shop.example/a~b?q=%C3%BC', 'https://shop.example/a~b/?q=%C3%BC', 'x']

  expect(same.map((each) => isSameUrl(url, each))).toEqual([true, true, true])
  expect(others.map((each) => isSameUrl(url, each))).toEqual([false, false, false])
  expect(isSameUrl('https://shop.example', 'https://shop.example/')).toBe(true)
  // An escaped slash is part of a segment.
  expect(isSameUrl('https://shop.example/a%2Fb', 'https://shop.example/a/b')).toBe(false)
})
