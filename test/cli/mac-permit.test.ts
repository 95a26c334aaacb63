// How the question for Automation is brought about, with stand-ins for open and osascript: whether it comes
// on a Mac, only a Mac can show.

import { expect, test } from 'bun:test'

import { askForAutomation } from '../../src/cli/mac.ts'
import { askMessages } from '../../src/lines/kinds/mac/driver.ts'
import { makeMacRig } from '../contract/mac-rig.ts'
import { Mac } from '../hosting/mac-rig.ts'
import { NEVER } from '../hosting/recording-tools.ts'
import { recordedOutput } from './recorded-output.ts'

function ask(mac: Mac, codes: readonly string[]) {
  const { out, printed } = recordedOutput()
  const findings = codes.map((code) => ({ code }))
  const asked = askForAutomation({ host: mac.host, call: { out }, signal: NEVER }, findings)
  return asked.then(() => printed.notes)
}

test('where the relay was refused, the app is launched at the screen to ask', async () => {
  using mac = new Mac()

  const notes = await ask(mac, ['other', 'automation_denied'])

  expect(mac.taken()).toEqual(['/usr/bin/open -n -W ~/Applications/Hookline.app --args mac permit'])
  expect(notes).toEqual(['macOS now asks whether Hookline can control Messages: click OK.'])
})

test('if nothing was refused, nobody is asked', async () => {
  using mac = new Mac()

  const notes = await ask(mac, ['full_disk_access'])

  expect([mac.taken(), notes]).toEqual([[], []])
})

test('the app only asks for the account', async () => {
  using mac = makeMacRig()
  const { run, clock } = mac
  const ask = async () => {
    const asking = askMessages({ run, clock }, '/usr/bin/osascript', NEVER)
    await clock.advance(1_000)
    return asking
  }

  const granted = await ask()
  mac.model.automation = 'denied'

  expect([granted, await ask()]).toEqual([true, false])
  expect(mac.model.calls.map(({ mode }) => mode)).toEqual(['account', 'account'])
})
