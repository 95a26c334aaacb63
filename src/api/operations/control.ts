// Operations of the control socket only, which only the owner can open.

import { type BoxReport, NewRollout, type Rollout } from '../boxes.ts'
import { NO_BODY, reading, rows, typed } from '../operation.ts'
import type { OptionRow, Phone, ScriptCall, SetupLink } from '../owner.ts'
import type { All } from '../schema.ts'

const CHANGES = { callers: 'control' } as const

const read = reading('control')

export const CONTROL = rows({
  getRollout: read('GET /rollout', typed<{ readonly rollout: Rollout | null }>()),
  startRollout: {
    ...CHANGES,
    route: 'POST /rollout',
    answers: { 200: typed<Rollout>() },
    body: NewRollout,
    audit: 'rollout.started',
  },
  resumeRollout: {
    ...CHANGES,
    route: 'POST /rollout/resume',
    answers: { 200: typed<Rollout>() },
    ...NO_BODY,
    audit: 'rollout.resumed',
  },
  cancelRollout: {
    ...CHANGES,
    route: 'DELETE /rollout',
    answers: { 200: typed<Rollout>() },
    audit: 'rollout.canceled',
  },
  getVersion: read(
    'GET /about',
    typed<{ readonly version: string; readonly is_claimed: boolean }>(),
  ),
  listOptions: read('GET /options', typed<All<OptionRow>>()),
  createSetupLink: {
    ...CHANGES,
    route: 'POST /setup-link',
    answers: { 200: typed<SetupLink>() },
    ...NO_BODY,
    audit: 'setup_link.created',
  },
  /** The upgrade of every version calls this path, so it can't change. */
  confirmUpgrade: {
    ...CHANGES,
    route: 'POST /judgement',
    answers: { 200: typed<{ readonly version: string }>() },
    ...NO_BODY,
    audit: null,
  },
  listPhones: read('GET /phones', typed<All<Phone>>()),
  listScriptCalls: read('GET /script-calls', typed<All<ScriptCall>>()),
  /** Answered by a box, on its own control socket. */
  getBox: read('GET /box', typed<BoxReport>()),
})
