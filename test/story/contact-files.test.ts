// Contacts that come in and go out as files, on the real relay.

import { expect, test } from 'bun:test'

import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'
import { namesIn, oneLine, put } from './people-stage.ts'

const ANNA = '+12025550701'
const BOB = '+12025550702'

const upload = async (relay: TestRelay, file: string | Uint8Array, query = ''): Promise<Json> => {
  const { key } = relay
  const response = await relay.app.http.fetch(
    new Request(`http://localhost/api/v1/contacts/import${query}`, {
      method: 'POST',
      headers: { 'X-API-Key': key?.key ?? '', 'X-API-Secret': key?.secret ?? '' },
      body: file,
    }),
    { address: '127.0.0.1', isControl: false, liftTimeout() {} },
  )
  return response.json()
}

test('an exported table brings every contact back', async () => {
  await using relay = await oneLine()
  await put(relay, ANNA, { name: '=HYPERLINK("x")', note: 'two\nlines', tags: ['vip', 'tea'] })
  await put(relay, BOB, { name: '-Bob-' })
  const before = await relay.get('/api/v1/contacts')
  const { key } = relay
  const table = await relay.app.http.fetch(
    new Request('http://localhost/api/v1/contacts/export', {
      headers: { 'X-API-Key': key?.key ?? '', 'X-API-Secret': key?.secret ?? '' },
    }),
    { address: '127.0.0.1', isControl: false, liftTimeout() {} },
  )
  const bytes = new Uint8Array(await table.arrayBuffer())

  await using other = await oneLine()
  const report = await upload(other, bytes)

  expect(new TextDecoder().decode(bytes)).toContain(`"'=HYPERLINK(""x"")",'${ANNA}`)
  expect(report).toMatchObject({ imported: 2, failed: 0 })
  const plain = ({ data }: Json) =>
    data.map(({ handle, name, note, tags }: Json) => [handle, name, note, tags])
  expect(plain(await other.get('/api/v1/contacts')).toSorted()).toEqual(plain(before).toSorted())
})

test('a table of contacts comes in with its bad rows named, and again without a change', async () => {
  await using relay = await oneLine()
  await put(relay, ANNA, { name: 'Ann', note: 'Likes tea', tags: ['vip'] })
  const table = [
    'First Name,Last Name,Phone,E-mail,Notes,Labels',
    'Anna,Miller,(202) 555-0701,,,friends',
    '"Bob ""the"" Builder",,+49 170 1234567,bob@example.com,"two\nlines",',
    'Carl,Nobody,12,,,',
    ',,+12025550703,,,',
    'Dora,Doe,,,,',
  ].join('\r\n')

  const report = await upload(relay, table)
  const again = await upload(relay, table)

  expect(report).toMatchObject({ imported: 2, updated: 1, skipped: 0, failed: 3 })
  expect(report.errors.map(({ row }: Json) => row)).toEqual([4, 5, 6])
  expect(again).toMatchObject({ imported: 0, updated: 0, skipped: 3, failed: 3 })
  const anna = await relay.get(`/api/v1/contacts/${encodeURIComponent(ANNA)}`)
  expect(anna).toMatchObject({ name: 'Anna Miller', note: 'Likes tea', tags: ['vip', 'friends'] })
  const bob = await relay.get('/api/v1/contacts/bob@example.com')
  expect(bob).toMatchObject({ name: 'Bob "the" Builder', note: 'two\nlines' })
})

test('a row without a name is named as bad, and changes nothing of a known contact', async () => {
  await using relay = await oneLine()
  await put(relay, ANNA, { name: 'Ann', note: 'Likes tea', tags: ['vip'] })

  const report = await upload(relay, `Name,Phone,Notes,Labels\n,${ANNA},Likes coffee,friends\n`)

  expect(report).toMatchObject({ imported: 0, updated: 0, skipped: 0, failed: 1 })
  expect(report.errors).toEqual([{ row: 2, why: 'has no name' }])
  const anna = await relay.get(`/api/v1/contacts/${encodeURIComponent(ANNA)}`)
  expect(anna).toMatchObject({ name: 'Ann', note: 'Likes tea', tags: ['vip'] })
})

test("national numbers go by the lines' country or the one that is named, never by a guess", async () => {
  await using relay = await oneLine()
  expect((await upload(relay, 'Anna;0170 1234567\n', '?country=de')).imported).toBe(1)
  expect((await relay.get('/api/v1/contacts/+491701234567')).name).toBe('Anna')
  const report = await upload(relay, 'Eve;4917012345678\n', '?country=DE')
  expect(report).toMatchObject({ imported: 0, failed: 1 })
  expect(report.errors[0].why).toContain('may be +4917012345678 or')
  expect((await upload(relay, 'a', '?country=Germany')).error.code).toBe('invalid_request')

  await using several = await twoCountries()
  const { errors } = await upload(several, 'Anna;(202) 555-0701\n')
  expect(errors[0].why).toContain('has no country code')
})

async function twoCountries(): Promise<TestRelay> {
  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  driver.add('+491701234500')
  return startRelay({ drivers: [driver] })
}

test('vCards come in: folded, quoted-printable, of several numbers, with a photo left aside', async () => {
  await using relay = await oneLine()
  const cards = [
    'BEGIN:VCARD',
    'VERSION:3.0',
    'FN:Anna Ma',
    ' ria Miller',
    'item1.TEL;TYPE=CELL:(202) 555-0701',
    'TEL;VALUE=uri:tel:+1-202-555-0702;ext=5',
    'EMAIL:Anna@Example.com',
    String.raw`NOTE:Likes tea\, and\ncake`,
    'CATEGORIES:vip,friends',
    'PHOTO;ENCODING=b:' + 'A'.repeat(60),
    ' ' + 'B'.repeat(60),
    'END:VCARD',
    'BEGIN:VCARD',
    'VERSION:2.1',
    'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCll=',
    'er;J=C3=B6rg',
    'TEL;CELL:+49 170 1234567',
    'END:VCARD',
    'BEGIN:VCARD',
    'FN:Nobody',
    'END:VCARD',
  ].join('\r\n')

  const report = await upload(relay, cards)

  expect(report).toMatchObject({ imported: 4, failed: 1, errors: [{ row: 3 }] })
  const anna = await relay.get('/api/v1/contacts/+12025550701')
  expect(anna).toMatchObject({
    name: 'Anna Maria Miller',
    note: 'Likes tea, and\ncake',
    tags: ['vip', 'friends'],
  })
  expect((await relay.get('/api/v1/contacts/+491701234567')).name).toBe('Jörg Müller')
  expect((await relay.get('/api/v1/contacts/anna@example.com')).name).toBe('Anna Maria Miller')
})

test('a file in Latin-1 and one in UTF-16 are read as what they are', async () => {
  await using relay = await oneLine()
  const latin = Buffer.from('Name;Telefon\nJörg;+491701234567\n', 'latin1')
  const wide = Buffer.from('\uFEFFName\tPhone\nZoë\t+12025550709\n', 'utf16le')

  expect((await upload(relay, latin)).imported).toBe(1)
  expect((await upload(relay, wide)).imported).toBe(1)

  expect((await relay.get('/api/v1/contacts/+491701234567')).name).toBe('Jörg')
  expect((await relay.get('/api/v1/contacts/+12025550709')).name).toBe('Zoë')
})

test('a row of hundreds of numbers is reported, and costs the next one nothing', async () => {
  await using relay = await oneLine()
  const numbers = Array.from({ length: 101 }, (_, place) => `+1202555${1_000 + place}`).join(';')
  const report = await upload(relay, `Name,Phone\nMany,"${numbers}"\nAnna,${ANNA}\n`)

  expect(report).toMatchObject({ imported: 1, failed: 1 })
  const why = 'has more than 100 phone numbers and email addresses'
  expect(report.errors).toEqual([{ row: 2, why }])
})

test('a file of more than 10 MiB is refused, and nothing of it is kept', async () => {
  await using relay = await oneLine()
  const answer = await upload(relay, 'Anna,+12025550701\n'.repeat(600_000))

  expect(answer.error.code).toBe('payload_too_large')
  expect(namesIn(await relay.get('/api/v1/contacts'))).toEqual([])
})
