// The operations of boxes that leave an entry in the audit.

import { expect } from 'bun:test'

import type { AuditEntry } from '../../src/api/audit.ts'
import type { Stage } from './audit-stage.ts'

type Call = { readonly path?: string; readonly body?: unknown }
export type Case = {
  readonly action: AuditEntry['action']
  /** What must be there first; gives the rest of the call. */
  readonly set?: (stage: Stage) => Promise<Call>
  readonly changes?: Pick<Partial<AuditEntry>, 'before' | 'after'>
}

/** Each with what must be there first. */
export const OF_BOXES: Readonly<Record<string, Case>> = {
  'POST /api/v1/boxes': {
    action: 'box.invited',
    set: async ({ next }) => ({ body: { name: `studio-${next()}` } }),
    changes: { before: null, after: { name: expect.any(String) } },
  },
  'PATCH /api/v1/boxes/:id': {
    action: 'box.renamed',
    set: async (stage) => ({ path: await stage.box(), body: { name: `attic-${stage.next()}` } }),
  },
  'DELETE /api/v1/boxes/:id': {
    action: 'box.removed',
    set: async (stage) => ({ path: await stage.box() }),
    changes: { before: { name: expect.any(String) }, after: null },
  },
  'POST /api/v1/rollout': {
    action: 'rollout.started',
    set: async (stage) => ({ body: await stage.rollout() }),
    changes: { after: { version: '0.1.0' } },
  },
  'POST /api/v1/rollout/resume': { action: 'rollout.resumed', set: startRollout },
  'DELETE /api/v1/rollout': { action: 'rollout.canceled', set: startRollout },
  'POST /api/v1/phone-lines/:id/move': {
    action: 'line.moved',
    set: async (stage) => {
      const to = await stage.box()
      stage.joined(to)
      return { path: await stage.line(), body: { to } }
    },
    changes: { after: { moves_to: expect.stringMatching(/^box_/) } },
  },
}

async function startRollout(stage: Stage) {
  await stage.owner('POST', '/api/v1/rollout', await stage.rollout())
  return {}
}
