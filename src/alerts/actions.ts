// Reads and changes channels and rules, and lists alerts with their outcomes.

import type * as api from '../api/alerts.ts'
import { cursorSeq, pageOf, allFound, type PageRequest } from '../api/paging.ts'
import type { Page } from '../api/schema.ts'
import { ALERT_CAUSE_NAMES, CHANNELS_MAX } from '../domain/alert.ts'
import type { AuditFields, Origin } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import type { LineId, NoticeId, Timestamp } from '../domain/ids.ts'
import { ALL_LINES, type LineLimit } from '../domain/routing.ts'
import { SECOND_MS } from '../domain/time.ts'
import {
  deleteChannel,
  findNotice,
  listAlerts,
  listChannels,
  noticesSince,
  ruleOf,
  saveChannel,
  saveRule,
  type AlertChannel,
  type AlertReader,
  type AlertRule,
} from '../storage/alerts.ts'
import { auditedUrl } from '../storage/audit.ts'
import type { Core } from '../storage/core.ts'
import { limitsAsked, siteOfLine } from '../storage/sites.ts'
import type { Seal } from '../system/seal.ts'
import type { Signal } from '../system/signal.ts'
import type { AlertLine } from './causes.ts'
import { insertTest, noticesOf } from './notices.ts'
import { postUrl, sealContext } from './posts.ts'
import {
  alertResource,
  channelResource,
  noticeResource,
  OWNER,
  ruleResource,
  type AlertViewer,
} from './resource.ts'
import { phoneFor } from './texts.ts'

/** Most notices that are read for a page of alerts. */
const NOTICES_MAX = 2_000
/** Longest wait of a test's caller for the outcome. */
const TEST_MS_MAX = 12 * SECOND_MS

type Given = {
  readonly lines: () => readonly AlertLine[]
  readonly seal: Seal
  readonly noticeSignal: Signal
  /** Called when a notice has ended, by its id. */
  readonly endings: Map<NoticeId, () => void>
}

export function createAlertActions(core: Core, given: Given) {
  return {
    list: createList(core),
    ...createChannels(core, given),
    ...createTests(core, given),
    ...createRules(core, given),
  }
}

function createList({ db }: Core) {
  return (page: PageRequest, reader: AlertReader): Page<api.ListedAlert> => {
    const rows = listAlerts(db, { before: cursorSeq(page.cursor), reader }, page.limit + 1)
    const oldest = Math.min(...rows.map(({ raisedAt, since }) => raisedAt ?? since))
    const notices = rows.length === 0 ? [] : noticesSince(db, oldest as Timestamp, NOTICES_MAX) // The minimum of times.
    const resource = (alert: (typeof rows)[number]) => ({
      ...alertResource(alert),
      notices: noticesOf(alert.id, notices).map((notice) => noticeResource(notice, reader.lines)),
    })
    return pageOf(allFound(rows), page.limit, resource, ({ seq }) => [seq])
  }
}

function createChannels(core: Core, given: Given) {
  const { db, writer, ids, audit } = core
  return {
    channels: (viewer: AlertViewer) => ({
      data: listChannels(db).map((channel) => channelResource(channel, viewer)),
    }),
    async addChannel(wish: api.NewAlertChannel, origin: Origin): Promise<api.AlertChannel> {
      const channel = newChannel(core, given, wish)
      await writer.write((tx) => {
        if (listChannels(tx).length >= CHANNELS_MAX) {
          const message = `There are at most ${CHANNELS_MAX} channels.`
          throw invalidRequest({ path: '', message })
        }
        saveChannel(tx, channel)
        const after = auditedFields(channel, wish.url)
        audit.record(tx, origin, { action: 'alert_channel.created', about: of(channel), after })
      })
      return channelResource({ ...channel, seq: 0 }, OWNER)
    },
    async changeChannel(id: string, wish: api.AlertChannelChanges, origin: Origin) {
      const changed = await writer.write((tx) => {
        const { seq, ...known } = requireChannel(listChannels(tx), id)
        const channel = { ...known, ...commonFields(given, wish) }
        saveChannel(tx, channel)
        const [before, after] = [auditedFields(known), auditedFields(channel)]
        const action = 'alert_channel.changed'
        audit.record(tx, origin, { action, about: of(channel), before, after })
        return { ...channel, seq }
      })
      given.noticeSignal.notify()
      return channelResource(changed, OWNER)
    },
    async remove(id: string, origin: Origin): Promise<void> {
      await writer.write((tx) => {
        const channel = requireChannel(listChannels(tx), id)
        deleteChannel(tx, channel.id, ids.now())
        const before = auditedFields(channel)
        audit.record(tx, origin, { action: 'alert_channel.removed', about: of(channel), before })
      })
    },
  }
}

function createTests(core: Core, { noticeSignal, endings }: Given) {
  const { db, writer, clock } = core
  return {
    /** Resolves with the outcome of the test, or with its state after `TEST_MS_MAX`. */
    async test(id: string): Promise<api.AlertNotice> {
      const ended = Promise.withResolvers<void>()
      const noticeId = await writer.write((tx) => {
        const noticeId = insertTest(tx, core, requireChannel(listChannels(tx), id).id)
        endings.set(noticeId, ended.resolve)
        return noticeId
      })
      const cancel = clock.after(TEST_MS_MAX, ended.resolve)
      noticeSignal.notify()
      await ended.promise
      cancel()
      endings.delete(noticeId)
      const notice = findNotice(db, noticeId)
      if (notice === null) throw noChannel()
      return noticeResource(notice)
    },
  }
}

function createRules({ db, writer, audit }: Core, given: Given) {
  return {
    rules(lines: LineLimit) {
      const sites = (lines ?? []).map((id) => siteOfLine(db, id))
      return {
        data: ALERT_CAUSE_NAMES.map((cause) => ruleResource(ruleOf(db, cause), lines, sites)),
      }
    },
    async changeRule(wish: api.AlertRuleChange, origin: Origin): Promise<api.AlertRule> {
      const { cause, after_minutes: minutes, phone_line_ids: lines, is_enabled: isOn } = wish
      const lineIds = lines === undefined || lines === null ? lines : lines.map(linesOf(given))
      return writer.write((tx) => {
        const before = ruleOf(tx, cause)
        const rule = {
          cause,
          afterMinutes: minutes ?? before.afterMinutes,
          lineIds: lineIds === undefined ? before.lineIds : lineIds,
          siteIds:
            wish.site_ids === undefined ? before.siteIds : limitsAsked(tx, wish, ALL_LINES).siteIds,
          isEnabled: isOn ?? before.isEnabled,
        }
        saveRule(tx, rule)
        audit.record(tx, origin, {
          action: 'alert_rule.changed',
          about: { kind: 'alert_rule', id: cause },
          before: ruleFields(before),
          after: ruleFields(rule),
        })
        return ruleResource(rule)
      })
    },
  }
}

function newChannel(
  { ids }: Pick<Core, 'ids'>,
  given: Given,
  wish: api.NewAlertChannel,
): Omit<AlertChannel, 'seq'> {
  const { to, url, form = 'ntfy' } = wish
  if ((to === undefined) === (url === undefined)) {
    const message = 'give either to, the phone of a text, or url, the address of a post'
    throw invalidRequest({ path: to === undefined ? 'to' : 'url', message })
  }
  const id = ids.id('chan')
  const none = { handle: null, sealedUrl: null, shownUrl: null, form: null }
  const common = { id, ...NO_FIELDS, ...commonFields(given, wish), createdAt: ids.now() }
  if (to !== undefined) {
    return { kind: 'text', ...none, handle: phoneFor(to, given.lines()), ...common }
  }
  const href = postUrl(url ?? '', form)
  const sealedUrl = given.seal.seal(Buffer.from(href), sealContext(id))
  const shownUrl = new URL(href).origin
  return { kind: 'post', ...none, sealedUrl, shownUrl, form, ...common }
}

const NO_FIELDS = { name: null, lineId: null, quietHours: null }

function commonFields(
  given: Given,
  { name, phone_line_id: lineId, quiet_hours: quietHours }: api.AlertChannelChanges,
): Partial<Pick<AlertChannel, 'name' | 'lineId' | 'quietHours'>> {
  if (quietHours && quietHours.from === quietHours.to) {
    throw invalidRequest({
      path: 'quiet_hours',
      message: 'must end at another time than it begins',
    })
  }
  return {
    ...(name !== undefined && { name }),
    ...(lineId !== undefined && { lineId: lineId === null ? null : linesOf(given)(lineId) }),
    ...(quietHours !== undefined && { quietHours }),
  }
}

/** Finds lines by their ids; throws if there is none. */
function linesOf({ lines }: Given): (id: string) => LineId {
  return (id) => {
    const found = lines().find(({ line }) => line.id === id)
    if (found !== undefined) return found.line.id
    const message = 'There is no phone line with this phone_line_id.'
    throw new RelayError('phone_line_not_found', message)
  }
}

function requireChannel(channels: readonly AlertChannel[], id: string): AlertChannel {
  const found = channels.find((channel) => channel.id === id)
  if (found !== undefined) return found
  throw noChannel()
}

function noChannel(): RelayError {
  return new RelayError('not_found', 'There is no alert channel with this id.')
}

function of({ id }: Pick<AlertChannel, 'id'>) {
  return { kind: 'alert_channel', id } as const
}

function ruleFields(rule: AlertRule): AuditFields {
  const { cause: _, ...fields } = ruleResource(rule)
  return fields
}

function auditedFields(
  { kind, name, handle, lineId, shownUrl, form, quietHours }: Omit<AlertChannel, 'seq'>,
  url?: string,
): AuditFields {
  return {
    kind,
    name,
    to: handle,
    phone_line_id: lineId,
    url: url === undefined ? shownUrl : auditedUrl(url),
    form,
    quiet_hours: quietHours && `${quietHours.from} to ${quietHours.to}`,
  }
}
