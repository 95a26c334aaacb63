// Numbers and addresses as people paste them into commands: from Apple's Contacts, a letter, or a national listing.

import { expect, test } from 'bun:test'

import { type Asked, runBeside } from './fake-relay.ts'

const NUMBER = '+12025550174'
const LINE = { id: 'line_a', phone_number: '+12025550101' }
const WRITINGS = [
  '\u202A+1 (202) 555-0174\u202C',
  '(202) 555\u20110174',
  '202\u00A0555\u00A00174',
  '\uFF0B\uFF11202\u200B5550174',
  'tel:+1-202-555-0174',
  '0012025550174',
]

async function asked(...line: readonly string[]): Promise<readonly Asked[]> {
  const answer = ({ path }: Asked) =>
    path.startsWith('/api/v1/phone-lines')
      ? { data: [LINE] }
      : { data: [], handle: NUMBER, rules: {} }
  const ran = await runBeside(line, answer)
  expect(ran.stderr).not.toContain('hookline:')
  return ran.asked.filter(({ path }) => !path.startsWith('/api/v1/phone-lines'))
}

test.each(WRITINGS)('every command that takes a person takes %p', async (written) => {
  const [listed] = await asked('messages', 'list', '--with', written)
  const [sent] = await asked('send', written, 'hello')
  const [stopped] = await asked('opt-outs', 'add', written)
  const [named] = await asked('contacts', 'remove', written)

  const path = encodeURIComponent(NUMBER)
  expect(listed?.path).toContain(`handle=${path}`)
  expect(sent?.body).toMatchObject({ to: NUMBER })
  expect([stopped?.path, named?.path]).toEqual([
    `/api/v1/opt-outs/${path}`,
    `/api/v1/contacts/${path}`,
  ])
})

test('a key and a line of an iPhone take a number with marks that nobody sees', async () => {
  const [written = ''] = WRITINGS
  const [key] = await asked(
    'keys',
    'add',
    'Shop',
    '--recipients',
    'list',
    '--allow',
    `${written},Ann@Example.com`,
  )
  const [line] = await asked('bridges', 'add', written)

  expect(key?.body).toMatchObject({ rules: { allow: [NUMBER, 'ann@example.com'] } })
  expect(line?.body).toMatchObject({ phone_number: NUMBER })
})

test('the name of a sender is compared as the device spells it', async () => {
  const [listed] = await asked('messages', 'list', '--with', 'MyBank')
  expect(listed?.path).toContain('handle=MyBank')
})
