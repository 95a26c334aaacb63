import type { AlertChannel, AlertNotice, AlertRule } from '../api/alerts.ts'
import { AFTER_MINUTES_MAX, ALERT_CAUSE_NAMES, POST_FORMS } from '../domain/alert.ts'
import { groupedNumber } from '../domain/handle.ts'
import { durationWords } from '../domain/number-words.ts'
import {
  argument,
  EXIT,
  requireChange,
  UsageError,
  type Call,
  type Command,
  type CommandOption,
  type ExitCode,
} from './command.ts'
import { askRelay, byId, calling, runningRelay } from './own-file.ts'
import { stateCell, table, timeCell, type Cell } from './table.ts'

const CHANNEL_OPTIONS: readonly CommandOption[] = [
  { name: 'name', value: 'NAME', sentence: 'Your name for it.' },
  {
    name: 'line',
    value: 'ID',
    ids: 'lines',
    sentence: 'The only line that sends its texts (default: any line that can).',
  },
  {
    name: 'quiet-hours',
    value: 'HOURS',
    sentence: 'When it gets nothing, such as 22:00-07:00. What came meanwhile follows afterwards.',
  },
  {
    name: 'form',
    value: 'FORM',
    sentence: `The form of a POST: ${POST_FORMS.join(' or ')} (default ntfy).`,
  },
]

const RULE_OPTIONS: readonly CommandOption[] = [
  { name: 'after', value: 'MINUTES', sentence: 'How long the cause must last.' },
  {
    name: 'lines',
    value: 'LIST',
    ids: 'lines',
    sentence: 'Ids of the only lines that count; an empty list for all.',
  },
  {
    name: 'sites',
    value: 'LIST',
    ids: 'sites',
    sentence: 'The only sites whose lines count; an empty list for all.',
  },
  { name: 'enabled', value: 'true|false', sentence: 'Whether it alerts you at all.' },
]

export const ALERT_COMMANDS: readonly Command[] = [
  {
    name: 'alerts list',
    short: 'alerts',
    sentence: 'List the last alerts, and what became of each. Short: alerts.',
    run: list,
  },
  {
    name: 'alerts channels',
    sentence: 'List where you are alerted.',
    run: listChannels,
  },
  {
    name: 'alerts add',
    args: [{ name: 'PHONE|URL' }],
    options: CHANNEL_OPTIONS,
    sentence: 'Alert a phone by text, or a URL by POST. Sensible rules are on at once.',
    run: async (call) => {
      const { options } = call
      const body = {
        ...target(call),
        name: options.get('name'),
        phone_line_id: options.get('line'),
        quiet_hours: options.quietHours(),
      }
      const added = await askRelay(call, 'createAlertChannel', { body })
      const advice = added.kind === 'text' ? await adviceOfSecond(call) : []
      call.out.data(added, [`Added ${added.id}.`, ...advice])
      call.out.note(`Try it: hookline alerts test ${added.id}`)
    },
  },
  {
    name: 'alerts remove',
    args: [{ name: 'ID', ids: 'alert_channels' }],
    sentence: 'Stop alerting a phone or a URL.',
    run: calling('deleteAlertChannel', byId, (_, call) => [`Removed ${argument(call, 0)}.`]),
  },
  {
    name: 'alerts test',
    args: [{ name: 'ID', ids: 'alert_channels', isOptional: true }],
    sentence: 'Send a test to one channel, or to all, and say what became of it.',
    run: test,
  },
  {
    name: 'alerts rules',
    sentence: 'List what alerts you, and how long it must last.',
    run: calling(
      'listAlertRules',
      () => [],
      ({ data }) => [ruleTable(data)],
    ),
  },
  {
    name: 'alerts set',
    args: [{ name: 'CAUSE', choices: ALERT_CAUSE_NAMES }],
    options: RULE_OPTIONS,
    sentence: 'Change when a cause alerts you.',
    run: changeRule,
  },
]

async function list(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const page = await client.ask('listAlerts', { query: { limit: '20' } })
  const names = namesOf((await client.ask('listAlertChannels')).data)
  const rows = page.data.map((alert): Cell[] => [
    timeCell(alert.raised_at),
    alert.title,
    alert.resolved_at === null
      ? stateCell('lasting', 'bad')
      : durationWords((alert.lasted_seconds ?? 0) * 1_000),
    alert.notices.map((notice) => `${names(notice.channel_id)} ${outcome(notice)}`).join(', '),
  ])
  call.out.data(page, [table(['RAISED', 'ALERT', 'LASTED', 'CHANNELS'], rows, ['CHANNELS'])])
  if (rows.length === 0) call.out.note('No alerts. To be alerted: hookline alerts add PHONE|URL')
}

async function listChannels(call: Call): Promise<undefined> {
  const page = await askRelay(call, 'listAlertChannels')
  const rows = page.data.map((channel) => [
    channel.id,
    channel.kind,
    channel.name,
    channel.to === null ? channel.url : groupedNumber(channel.to),
    channel.quiet_hours && `${channel.quiet_hours.from}-${channel.quiet_hours.to}`,
  ])
  call.out.data(page, [table(['ID', 'KIND', 'NAME', 'TO', 'QUIET'], rows)])
  if (rows.length === 0) call.out.note('Nobody is alerted. Add one: hookline alerts add PHONE|URL')
}

async function test(call: Call): Promise<ExitCode> {
  const client = await runningRelay(call)
  const { data } = await client.ask('listAlertChannels')
  const ids = call.args.length > 0 ? call.args : data.map(({ id }) => id)
  const names = namesOf(data)
  if (ids.length === 0) throw new UsageError('There is no channel. Add one: hookline alerts add')
  const notices = await Promise.all(
    ids.map((id) => client.ask('testAlertChannel', { params: { id }, body: {} })),
  )
  const rows = notices.map((notice) => [names(notice.channel_id), outcome(notice)])
  call.out.data({ data: notices }, [table(['CHANNEL', 'TEST'], rows)])
  return notices.every(({ status }) => status === 'done') ? EXIT.ok : EXIT.checksFailed
}

async function changeRule(call: Call): Promise<undefined> {
  const { options } = call
  const changes = {
    after_minutes: options.count('after', AFTER_MINUTES_MAX),
    phone_line_ids: options.limit('lines'),
    site_ids: options.limit('sites'),
    is_enabled: options.switch('enabled'),
  }
  requireChange(changes, RULE_OPTIONS)
  // The parser has checked the name against the causes.
  const cause = argument(call, 0) as AlertRule['cause']
  const rule = await askRelay(call, 'putAlertRule', { body: { cause, ...changes } })
  call.out.data(rule, [ruleTable([rule])])
}

function ruleTable(rules: readonly AlertRule[]) {
  const rows = rules.map((rule) => [
    rule.cause,
    rule.is_enabled ? `after ${durationWords(rule.after_minutes * 60_000)}` : 'off',
    rule.phone_line_ids?.join(', ') ?? 'all lines',
    rule.site_ids?.join(', ') ?? 'all sites',
  ])
  return table(['CAUSE', 'ALERTS', 'LINES', 'SITES'], rows)
}

/** Advises a second channel if the relay has only one line, whose failure no text could report. */
async function adviceOfSecond(call: Call): Promise<readonly string[]> {
  const client = await runningRelay(call)
  const { data: channels } = await client.ask('listAlertChannels')
  const { data: lines } = await client.ask('listPhoneLines')
  if (lines.length > 1 || channels.some(({ kind }) => kind === 'post')) return []
  return [
    'With one line, no text can say that it is off. Add a second channel: hookline alerts add URL. For a machine that ' +
      'is dead, set a heartbeat: hookline config set heartbeat_url URL',
  ]
}

function target(call: Call) {
  const text = argument(call, 0)
  const form = call.options.choice('form', POST_FORMS)
  return /^https?:/i.test(text) ? { url: text, form } : { to: text }
}

function namesOf(channels: readonly AlertChannel[]): (id: string) => string {
  return (id) => {
    const found = channels.find((channel) => channel.id === id)
    return found?.name ?? found?.to ?? found?.url ?? 'removed channel'
  }
}

function outcome({ status, error }: AlertNotice): string {
  return error === null ? status.replace('_', ' ') : `${status.replace('_', ' ')} (${error})`
}
