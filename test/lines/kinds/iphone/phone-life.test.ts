// What stops a phone, one row for each stop that this driver sees: a phone that was online, what happens to
// it, what its line, its ladder and the health catalogue say then, and what brings it back.

import { describe, expect, test } from 'bun:test'

import type {
  LaunchTrouble,
  LaunchTroubleCode,
} from '../../../../src/lines/kinds/iphone/agent/launcher.ts'
import type {
  PhoneFacts,
  PhoneTroubleReason,
} from '../../../../src/lines/kinds/iphone/cable/lockdown.ts'
import {
  type BlockerCode,
  BLOCKERS,
  type PhoneStage,
  stageIndex,
} from '../../../../src/lines/kinds/iphone/phone-blockers.ts'
import { UDID } from '../../../support/iphone/fake-phones.ts'
import { PhoneHost, type PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'

const ALERT = { text: 'Carrier Settings Update', buttons: ['Update'] }

type Act = (rig: PhoneLineRig) => unknown
/** What happens, the code, the highest state that is left, and what mends it. */
type Row = readonly [what: string, happens: Act, code: BlockerCode, state: PhoneStage, mends: Act]

const replug: Act = (rig) => {
  rig.unplug()
  rig.plugIn()
}
/** The phone says this of itself from the next time on that it is plugged in. */
const replugAs = (say: Act): Act => {
  return (rig) => {
    replug(rig)
    say(rig)
  }
}
const facts = (told: Partial<PhoneFacts>): Act => {
  return (rig) => rig.cable.tell(UDID, told)
}
const trouble = (code: LaunchTroubleCode): LaunchTrouble => ({ code, why: 'It said so.' })

const prepareWith = (why: LaunchTrouble | null): Act => {
  return ({ launcher }) => Object.assign(launcher, { prepareTrouble: why })
}
const launchWith = (why: LaunchTrouble | null): Act => {
  return ({ launcher }) => Object.assign(launcher, { launchTrouble: why })
}
/** Nobody listens on the port of the agent. */
const silence = (isUnplugged: boolean): Act => {
  return ({ commands }) => Object.assign(commands, { isUnplugged })
}
const calm: Act = ({ commands }) => {
  commands.meddle = () => null
}

const TRUST: readonly PhoneTroubleReason[] = [
  'not_trusted',
  'trust_dialog',
  'pairing_stale',
  'passcode_locked',
  'usbmux_denied',
  'unreadable',
]
const PREPARING = ['launcher_absent', 'image_mount_failed', 'tunnel_failed'] as const

const AT_CABLE: readonly Row[] = [
  ['the cable is pulled', (rig) => rig.unplug(), 'device_absent', 'absent', (rig) => rig.plugIn()],
  ...TRUST.map((reason): Row => [
    `a reading of the phone ends with ${reason}`,
    replugAs((rig) => rig.cable.refuse(UDID, reason)),
    reason,
    'attached',
    facts({}),
  ]),
  [
    'trust is refused, which holds until the phone is plugged in anew',
    replugAs((rig) => rig.cable.refuse(UDID, 'trust_denied')),
    'trust_denied',
    'attached',
    replug,
  ],
  [
    'the phone has an old iOS',
    replugAs(facts({ iosVersion: '17.3.1' })),
    'ios_too_old',
    'trusted',
    replugAs(facts({ iosVersion: '17.4.1' })),
  ],
  [
    'Developer Mode is off',
    replugAs(facts({ isDeveloperModeOn: false })),
    'developer_mode_off',
    'trusted',
    replugAs(facts({ isDeveloperModeOn: true })),
  ],
  [
    'the phone speaks German',
    replugAs(facts({ language: 'de-DE' })),
    'language_not_english',
    'trusted',
    facts({ language: 'en-US' }),
  ],
  [
    'the battery falls below 8 %',
    facts({ battery: { percent: 7, isCharging: false } }),
    'battery_empty',
    'trusted',
    facts({ battery: { percent: 7, isCharging: true } }),
  ],
]

const OF_THE_AGENT: readonly Row[] = [
  ...PREPARING.map((code): Row => [
    `what has to be there before the agent can start fails with ${code}`,
    replugAs(prepareWith(trouble(code))),
    code,
    'trusted',
    prepareWith(null),
  ]),
  [
    'the start of the agent fails',
    replugAs(launchWith(trouble('launch_failed'))),
    'launch_failed',
    'prepared',
    launchWith(null),
  ],
  [
    'the agent ends and nobody listens any more',
    silence(true),
    'agent_down',
    'prepared',
    silence(false),
  ],
  [
    'commands take more than a minute',
    (rig) => {
      rig.commands.meddle = () => ({ how: 'slow', ms: 61_000 })
    },
    'agent_stuck',
    'prepared',
    calm,
  ],
  [
    'another program takes the session again and again',
    (rig) => {
      const { commands } = rig
      commands.meddle = (name) => {
        if (name === 'source') commands.takeSession()
        return null
      }
    },
    'agent_shared',
    'agent_running',
    calm,
  ],
]

const ON_THE_SCREEN: readonly Row[] = [
  [
    'the screen is locked with a passcode',
    (rig) => Object.assign(rig.phone, { isLocked: true, hasPasscode: true }),
    'locked',
    'agent_running',
    (rig) => Object.assign(rig.phone, { isLocked: false }),
  ],
  [
    'a question stands on the screen that nobody but the owner may answer',
    (rig) => {
      rig.phone.alerts = [ALERT]
      rig.phone.screen = { on: 'elsewhere' }
    },
    'alert',
    'agent_running',
    (rig) => {
      rig.phone.alerts = []
    },
  ],
  [
    'the screen is one that nobody knows',
    (rig) => {
      rig.phone.screen = { on: 'elsewhere' }
      rig.phone.activate = () => {}
    },
    'ui_unknown',
    'agent_running',
    (rig) => {
      rig.phone.screen = { on: 'list' }
    },
  ],
]

const ROWS = [...AT_CABLE, ...OF_THE_AGENT, ...ON_THE_SCREEN]

describe('what stops a phone takes its line offline, and is reported with what mends it', () => {
  for (const [what, happens, code, state, mends] of ROWS) {
    test(`${what}: ${code}`, async () => {
      const host = await PhoneHost.online()
      const { launcher } = host.rig
      const { title, fix } = BLOCKERS[code]

      happens(host.rig)
      await host.until(() => host.said.at(-1) === code)
      const reason = host.events.findLast((event) => event.type === 'offline')?.reason
      const finding = (await host.driver.checkup(new AbortController().signal))[0]
      const seen = { state: host.state, stop: host.report.stop?.code }
      // The agent is stopped below the stage of a phone whose agent is started.
      const isStopped = stageIndex(state) <= stageIndex('prepared')
      expect(launcher.stopped).toEqual(isStopped ? launcher.launched : [])
      mends(host.rig)
      await host.until(() => host.isOnline)

      expect(seen).toEqual({ state, stop: code })
      expect(reason?.hint).toStartWith(fix)
      expect(finding).toMatchObject({ code, title, fix, key: UDID, severity: 'error' })
      expect(await host.findings()).toEqual([])
      expect(host.report.stop).toBeNull()
      expect(host.state).toBe('online')
    })
  }

  test('every stop has its row here or below', () => {
    const elsewhere = ['agent_starting', 'passcode_prompt', 'wrong_chat', 'imessage_off']

    const seen = new Set<string>([...ROWS.map(([, , code]) => code), ...elsewhere])

    expect(Object.keys(BLOCKERS).filter((code) => !seen.has(code))).toEqual([])
  })
})

test('the hint of an alert says what it asks, and the log does not', async () => {
  const host = await PhoneHost.online()
  const { rig } = host
  rig.phone.screen = { on: 'elsewhere' }
  rig.phone.alerts = [ALERT]

  await host.until(() => host.said.at(-1) === 'alert')

  const offline = host.events.findLast((event) => event.type === 'offline')
  expect(offline?.reason.hint).toBe('Answer it on the iPhone. It says: "Carrier Settings Update".')
  // What a stranger sends as a flash message is an alert, too.
  expect(JSON.stringify(rig.log.lines)).toContain('"code":"alert"')
  expect(JSON.stringify(rig.log.lines)).not.toContain('Carrier')
})

test('an alert that means nothing is pressed away, and a lock screen without a passcode opened', async () => {
  const host = await PhoneHost.online()
  const { clock, phone } = host.rig
  const saidBefore = [...host.said]

  phone.screen = { on: 'elsewhere' }
  phone.alerts = [{ text: 'Software Update', buttons: ['Install', 'Later'] }]
  await clock.advance(10_000)
  phone.isLocked = true
  await clock.advance(10_000)

  expect({ alerts: phone.alerts, isLocked: phone.isLocked }).toEqual({
    alerts: [],
    isLocked: false,
  })
  expect(host.said).toEqual(saidBefore)
})

test('after an update of iOS overnight the phone is climbed to from the bottom', async () => {
  const host = await PhoneHost.online()
  const { rig } = host
  const before = rig.launcher.asked.length

  rig.unplug()
  await rig.clock.advance(1_200_000)
  rig.plugIn()
  rig.cable.tell(UDID, { iosVersion: '26.1' })
  await host.until(() => host.isOnline, 30_000)

  expect(rig.launcher.asked.slice(before)).toEqual(['prepare', 'launch'])
  expect(host.report.ios_version).toBe('26.1')
})
