// Operations of the control socket alone, which nobody but the owner can open.

import { type BoxReport, NewRollout, type Rollout } from '../boxes.ts'
import { rows, typed } from '../operation.ts'
import type { OptionRow, Phone, ScriptCall, SetupLink } from '../owner.ts'
import { type All, NoBody } from '../schema.ts'

const READS = { of: 'control', audit: null } as const
const CHANGES = { of: 'control' } as const

export const CONTROL = rows({
  getRollout: {
    ...READS,
    route: 'GET /rollout',
    answers: { 200: typed<{ readonly rollout: Rollout | null }>() },
  },
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
    body: NoBody,
    isBodyOptional: true,
    audit: 'rollout.resumed',
  },
  cancelRollout: {
    ...CHANGES,
    route: 'DELETE /rollout',
    answers: { 200: typed<Rollout>() },
    audit: 'rollout.canceled',
  },
  getVersion: {
    ...READS,
    route: 'GET /about',
    answers: { 200: typed<{ readonly version: string; readonly is_claimed: boolean }>() },
  },
  listOptions: {
    ...READS,
    route: 'GET /options',
    answers: { 200: typed<All<OptionRow>>() },
  },
  createSetupLink: {
    ...CHANGES,
    route: 'POST /setup-link',
    answers: { 200: typed<SetupLink>() },
    body: NoBody,
    isBodyOptional: true,
    audit: 'setup_link.created',
  },
  /** Every version's upgrade calls this path. */
  confirmUpgrade: {
    ...CHANGES,
    route: 'POST /judgement',
    answers: { 200: typed<{ readonly version: string }>() },
    body: NoBody,
    isBodyOptional: true,
    audit: null,
  },
  listPhones: {
    ...READS,
    route: 'GET /phones',
    answers: { 200: typed<All<Phone>>() },
  },
  listScriptCalls: {
    ...READS,
    route: 'GET /script-calls',
    answers: { 200: typed<All<ScriptCall>>() },
  },
  /** On the control socket of a box only, which answers it itself. */
  getBox: {
    ...READS,
    route: 'GET /box',
    answers: { 200: typed<BoxReport>() },
  },
})
