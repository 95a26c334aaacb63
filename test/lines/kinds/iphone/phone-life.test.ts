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
  stageIndex,
} from '../../../../src/lines/kinds/iphone/phone-blockers.ts'
import { UDID } from '../../../support/iphone/fake-phones.ts'
import { PhoneHost, type PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'

const ALERT = { text: 'Carrier Settings Update', buttons: ['Update'] }

type Act = (rig: PhoneLineRig) => void
type Row = {
  readonly what: string
  readonly happens: Act
  readonly code: BlockerCode
  /** The highest state that is left. */
  readonly state: string
  readonly mends: Act
}

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
  {
    what: 'the cable is pulled',
    happens: (rig) => rig.unplug(),
    code: 'device_absent',
    state: 'absent',
    mends: (rig) => rig.plugIn(),
  },
  ...TRUST.map((reason): Row => ({
    what: `a reading of the phone ends with ${reason}`,
    happens: replugAs((rig) => rig.cable.refuse(UDID, reason)),
    code: reason,
    state: 'attached',
    mends: facts({}),
  })),
  {
    what: 'trust is refused, which holds until the phone is plugged in anew',
    happens: replugAs((rig) => rig.cable.refuse(UDID, 'trust_denied')),
    code: 'trust_denied',
    state: 'attached',
    mends: replug,
  },
  {
    what: 'the phone has an old iOS',
    happens: replugAs(facts({ iosVersion: '17.3.1' })),
    code: 'ios_too_old',
    state: 'trusted',
    mends: replugAs(facts({ iosVersion: '17.4.1' })),
  },
  {
    what: 'Developer Mode is off',
    happens: replugAs(facts({ isDeveloperModeOn: false })),
    code: 'developer_mode_off',
    state: 'trusted',
    mends: replugAs(facts({ isDeveloperModeOn: true })),
  },
  {
    what: 'the phone speaks German',
    happens: replugAs(facts({ language: 'de-DE' })),
    code: 'language_not_english',
    state: 'trusted',
    mends: facts({ language: 'en-US' }),
  },
  {
    what: 'the battery falls below 8 %',
    happens: facts({ battery: { percent: 7, isCharging: false } }),
    code: 'battery_empty',
    state: 'trusted',
    mends: facts({ battery: { percent: 7, isCharging: true } }),
  },
]

const OF_THE_AGENT: readonly Row[] = [
  ...PREPARING.map((code): Row => ({
    what: `what has to be there before the agent can start fails with ${code}`,
    happens: replugAs((rig) => {
      rig.launcher.prepareTrouble = trouble(code)
    }),
    code,
    state: 'trusted',
    mends: (rig) => {
      rig.launcher.prepareTrouble = null
    },
  })),
  {
    what: 'the start of the agent fails',
    happens: replugAs((rig) => {
      rig.launcher.launchTrouble = trouble('launch_failed')
    }),
    code: 'launch_failed',
    state: 'prepared',
    mends: (rig) => {
      rig.launcher.launchTrouble = null
    },
  },
  {
    what: 'the agent ends and nobody listens any more',
    happens: (rig) => {
      rig.commands.isUnplugged = true
    },
    code: 'agent_down',
    state: 'prepared',
    mends: (rig) => {
      rig.commands.isUnplugged = false
    },
  },
  {
    what: 'commands take more than a minute',
    happens: (rig) => {
      rig.commands.meddle = () => ({ how: 'slow', ms: 61_000 })
    },
    code: 'agent_stuck',
    state: 'prepared',
    mends: (rig) => {
      rig.commands.meddle = () => null
    },
  },
  {
    what: 'another program takes the session again and again',
    happens: (rig) => {
      const { commands } = rig
      commands.meddle = (name) => {
        if (name === 'source') commands.takeSession()
        return null
      }
    },
    code: 'agent_shared',
    state: 'agent_running',
    mends: (rig) => {
      rig.commands.meddle = () => null
    },
  },
]

const ON_THE_SCREEN: readonly Row[] = [
  {
    what: 'the screen is locked with a passcode',
    happens: (rig) => Object.assign(rig.phone, { isLocked: true, hasPasscode: true }),
    code: 'locked',
    state: 'agent_running',
    mends: (rig) => Object.assign(rig.phone, { isLocked: false }),
  },
  {
    what: 'a question stands on the screen that nobody but the owner may answer',
    happens: (rig) => {
      rig.phone.alerts = [ALERT]
      rig.phone.screen = { on: 'elsewhere' }
    },
    code: 'alert',
    state: 'agent_running',
    mends: (rig) => {
      rig.phone.alerts = []
    },
  },
  {
    what: 'the screen is one that nobody knows',
    happens: (rig) => {
      rig.phone.screen = { on: 'elsewhere' }
      rig.phone.activate = () => {}
    },
    code: 'ui_unknown',
    state: 'agent_running',
    mends: (rig) => {
      rig.phone.screen = { on: 'list' }
    },
  },
]

const ROWS = [...AT_CABLE, ...OF_THE_AGENT, ...ON_THE_SCREEN]

describe('what stops a phone takes its line offline, and is told with what mends it', () => {
  for (const { what, happens, code, state, mends } of ROWS) {
    test(`${what}: ${code}`, async () => {
      const host = await PhoneHost.online()
      const { launcher } = host.rig
      const { title, fix } = BLOCKERS[code]

      happens(host.rig)
      await host.until(() => host.said.at(-1) === code)
      const reason = host.events.findLast((event) => event.type === 'offline')?.reason
      const finding = (await host.driver.checkup(new AbortController().signal))[0]
      const seen = { state: host.state ?? '', stop: host.report.stop?.code }
      // The agent is stopped below the stage of a phone whose agent is started.
      const isStopped = stageIndex(seen.state as never) <= stageIndex('prepared')
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

    const seen = new Set<string>([...ROWS.map(({ code }) => code), ...elsewhere])

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
