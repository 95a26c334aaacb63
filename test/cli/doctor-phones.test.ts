// `hookline doctor` on iPhones: how far each has come, and what is written down of a screen that nobody
// knows, beside a relay whose phones are played.

import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

import { on } from '../support/command-line.ts'
import { PhoneLineRig } from '../support/iphone/phone-line-rig.ts'
import { run } from '../support/iphone/ui-rig.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { startRelay } from '../support/test-relay.ts'
import { FakeRelay } from './fake-relay.ts'

const UDID = '00008110-001A2B3C4D5E001E'
const FRIEND = '+12025550123'

/** Runs the command beside a relay with one phone, after `before` has happened to it. */
async function askDoctor(before: (rig: PhoneLineRig) => void, args: readonly string[] = []) {
  using folder = new ScratchFolder()
  const rig = new PhoneLineRig([UDID])
  rig.cable.attach(UDID)
  rig.of(UDID).phone.receive(FRIEND, 'the secret text')
  before(rig)
  const driver = rig.driver()
  await using relay = await run(rig.clock, startRelay({ drivers: [driver], clock: rig.clock }))
  await relay.clock.advance(60_000)
  const lists = new Map<string, unknown>([
    ['/api/v1/phones', driver.reports()],
    ['/api/v1/health', (await relay.get('/api/v1/health')).data],
    ['/api/v1/phone-lines?limit=200', await relay.lines()],
  ])
  using _server = new FakeRelay(folder.path, ({ path }) => Response.json({ data: lists.get(path) }))
  const screens = folder.file('screens')
  const told = args.includes('--screens') ? [...args, screens] : args
  const { stdout } = await on(folder, ['doctor', ...told])
  const files = existsSync(screens) ? readdirSync(screens) : []
  const texts = files.map((name) => readFileSync(`${screens}/${name}`, 'utf8'))
  return { stdout, files, texts }
}

test('a phone that is a line is online, and that is all', async () => {
  const { stdout } = await askDoctor(() => {})

  expect(stdout).toBe(
    ['iPhone …5E001E, iOS 18.6.2, battery 87 %: online', '', 'No issues. 1 line online.', ''].join(
      '\n',
    ),
  )
})

test('of a phone that is stopped the first state that it does not reach says why', async () => {
  const { stdout } = await askDoctor((rig) => rig.cable.tell(UDID, { isDeveloperModeOn: false }))

  const ladder = [
    'iPhone …5E001E, iOS 18.6.2, battery 87 %',
    '    attached  yes',
    '    trusted   yes',
    '    prepared  no: Developer Mode is off on the iPhone',
    '',
    '1.  error: Developer Mode is off on the iPhone',
  ]
  expect(stdout).toStartWith(ladder.join('\n'))
})

test('a screen that nobody knows is written down without a word of what anybody wrote', async () => {
  const { stdout, files, texts } = await askDoctor(
    (rig) => {
      rig.of(UDID).phone.activate = () => {}
      rig.of(UDID).phone.screen = { on: 'elsewhere' }
    },
    ['--screens'],
  )

  expect(files).toEqual(['screen-5E001E.txt'])
  expect(texts[0]).toStartWith('iPhone …5E001E, iOS 18.6.2, battery 87 %\nApplication')
  expect(texts[0]).not.toContain('secret')
  expect(texts[0]).not.toContain('0123')
  expect(stdout).toContain('no text, name or number is in it')
})

test('where every screen was known nothing is written', async () => {
  const { stdout, files } = await askDoctor(() => {}, ['--screens'])

  expect(stdout).toEndWith('No iPhone has shown a screen that Hookline does not know.\n')
  expect(files).toEqual([])
})
