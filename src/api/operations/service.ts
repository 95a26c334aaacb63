import { Type } from 'typebox'

import { AuditAction, AuditEntryList } from '../audit.ts'
import { Alive, HealthFindings, Ready } from '../health.ts'
import { READ, rows } from '../operation.ts'
import { PAGE_QUERY, textParameter, timeParameter } from '../query.ts'
import { id } from '../schema.ts'
import { Timeline } from '../timeline.ts'

const OF_KEYS = { callers: 'keys', tag: 'Service', ...READ } as const
const OF_EVERYONE = { callers: 'everyone', tag: 'Service', audit: null } as const

const TimelineQuery = Type.Object({
  ...PAGE_QUERY,
  since: timeParameter('Start of the range; yesterday at 18:00 if it is left out.'),
  until: timeParameter('End of the range, exclusive; now if it is left out.'),
  phone_line_id: Type.Optional(
    id('line', 'Only what is about this line, or about the relay as a whole.'),
  ),
  site_id: Type.Optional(
    id('site', 'Only what is about the lines of this site, or about the relay as a whole.'),
  ),
})

const AuditQuery = Type.Object({
  ...PAGE_QUERY,
  since: timeParameter('Inclusive.'),
  action: Type.Optional(AuditAction),
  actor: textParameter('The id of a key or of a dashboard session, or a kind of actor.'),
  about: textParameter('The id of a thing, or a kind of things.'),
})

export const SERVICE = rows({
  listAudit: {
    ...OF_KEYS,
    route: 'GET /audit',
    scope: 'audit:read',
    limits: [],
    summary: 'List changes',
    description:
      'Newest first: changes of keys, bridges, webhooks, lines and settings, sign-ins, restores and ' +
      'upgrades. Kept for 400 days; no secret is in it.',
    query: AuditQuery,
    answers: { 200: AuditEntryList },
  },
  listHealthFindings: {
    ...OF_KEYS,
    route: 'GET /health',
    scope: 'health:read',
    limits: ['lines'],
    summary: 'List problems',
    description: 'Everything that keeps the relay, a line or a webhook from working.',
    answers: { 200: HealthFindings },
    compress: true,
  },
  getTimeline: {
    ...OF_KEYS,
    route: 'GET /timeline',
    scope: 'health:read',
    limits: ['lines'],
    summary: 'Read what happened',
    description:
      'Newest first: lines off and on, starts of the relay, alerts, webhooks that failed, messages that were not sent (counted by ' +
      'hour), opt-outs, backups, sign-ins and changes, each as a sentence. What began before the range and lasted into ' +
      'it is included. Starts and restores are shown to every caller; everything else only to callers who may read it ' +
      'where it comes from: lines with `lines:read`, counts with `messages:read`, opt-outs with `contacts:read`, webhooks ' +
      'with `webhooks:read`, sign-ins and changes with `audit:read`. Kept for 400 days; beyond 100,000 changes, the ' +
      'oldest are counted by hour.',
    query: TimelineQuery,
    answers: { 200: Timeline },
  },
  getLiveness: {
    ...OF_EVERYONE,
    route: 'GET /healthz',
    summary: 'Check liveness',
    description: 'Also answers while the relay starts or stops.',
    answers: { 200: Alive },
  },
  getReadiness: {
    ...OF_EVERYONE,
    route: 'GET /readyz',
    summary: 'Check readiness',
    description:
      '200 once its database is open and migrated, 503 before that and while it stops. `storage_full` is true ' +
      'if it is ready and accepts nothing, because its disk is nearly full.',
    answers: { 200: Ready },
    errors: ['starting', 'stopping'],
  },
  getMetrics: {
    ...OF_EVERYONE,
    route: 'GET /metrics',
    summary: 'Figures for Prometheus',
    description:
      'For this machine and for calls with a key, unless a setting opens it to everyone.',
    fileAnswers: {
      200: {
        description: 'Prometheus text format 0.0.4.',
        content: { 'text/plain': { schema: Type.String() } },
      },
    },
    answers: {},
    errors: ['not_found'],
  },
})
