import * as api from '../alerts.ts'
import { CHANGE, NO_BODY, READ, changing, rows } from '../operation.ts'
import { PageQuery } from '../query.ts'
import { Deleted } from '../schema.ts'

const READS = {
  callers: 'keys',
  tag: 'Service',
  ...READ,
  scope: 'health:read',
  limits: ['lines'],
} as const

/** Only the owner changes alerts: a key must not redirect them. */
const change = changing('owner')

export const ALERTS = rows({
  listAlerts: {
    ...READS,
    route: 'GET /alerts',
    summary: 'List alerts',
    description:
      'Newest first, with what each channel was told. A key that is limited to lines sees the alerts of these ' +
      'lines, of its webhooks and of the relay itself.',
    query: PageQuery,
    answers: { 200: api.AlertList },
  },
  listAlertChannels: {
    ...READS,
    route: 'GET /alerts/channels',
    summary: 'List alert channels',
    description: 'Where the owner is alerted. Without URLs, and with the end of phone numbers.',
    answers: { 200: api.AlertChannels },
  },
  createAlertChannel: {
    ...CHANGE,
    callers: 'owner',
    route: 'POST /alerts/channels',
    answers: { 201: api.AlertChannel },
    body: api.NewAlertChannel,
    audit: 'alert_channel.created',
  },
  updateAlertChannel: change('PATCH /alerts/channels/:id', api.AlertChannel, {
    body: api.AlertChannelChanges,
    audit: 'alert_channel.changed',
  }),
  deleteAlertChannel: change('DELETE /alerts/channels/:id', Deleted, {
    audit: 'alert_channel.removed',
  }),
  testAlertChannel: change('POST /alerts/channels/:id/test', api.AlertNotice, {
    ...NO_BODY,
    password: 'no',
    audit: null,
  }),
  listAlertRules: {
    ...READS,
    route: 'GET /alerts/rules',
    summary: 'List alert rules',
    description: 'Every cause of alerts, and how long it must last.',
    answers: { 200: api.AlertRules },
  },
  putAlertRule: change('PUT /alerts/rules', api.AlertRule, {
    body: api.AlertRuleChange,
    audit: 'alert_rule.changed',
  }),
})
