import type * as api from '../api/alerts.ts'
import { maskHandle } from '../domain/handle.ts'
import type { SiteId } from '../domain/ids.ts'
import { includesLine, type LineLimit } from '../domain/routing.ts'
import type { AlertChannel, AlertRow, AlertRule, NoticeRow } from '../storage/alerts.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'

/** `alert` has been raised. */
export function alertResource(alert: AlertRow): api.Alert {
  const { raisedAt, resolvedAt, lastedMs } = alert
  return {
    id: alert.id,
    cause: alert.cause,
    title: alert.title,
    about: { kind: alert.aboutKind, id: alert.aboutId === '' ? null : alert.aboutId },
    phone_line_id: alert.lineId,
    since: isoTime(alert.since),
    raised_at: isoTime(raisedAt ?? alert.since),
    resolved_at: isoTimeOrNull(resolvedAt),
    lasted_seconds: lastedMs === null ? null : Math.round(lastedMs / 1_000),
  }
}

/** The text may name other lines, so a caller that is limited to some doesn't see it. */
export function noticeResource(notice: NoticeRow, lines: LineLimit = null): api.AlertNotice {
  return {
    id: notice.id,
    channel_id: notice.channelId,
    kind: notice.kind,
    status: notice.status,
    text: lines === null ? notice.text : null,
    attempts: notice.attempts,
    message_id: notice.messageId,
    error: notice.error,
    created_at: isoTime(notice.createdAt),
    handed_over_at: isoTimeOrNull(notice.handedOverAt),
  }
}

/** The lines that the caller may see, and whether it is the owner, who alone sees the whole number. */
export type AlertViewer = { readonly isOwner: boolean; readonly lines: LineLimit }

export const OWNER: AlertViewer = { isOwner: true, lines: null }

export function channelResource(
  channel: AlertChannel,
  { isOwner, lines }: AlertViewer,
): api.AlertChannel {
  const { handle, lineId } = channel
  return {
    id: channel.id,
    kind: channel.kind,
    name: channel.name,
    to: handle === null || isOwner ? handle : maskHandle(handle),
    phone_line_id: lineId !== null && includesLine(lines, lineId) ? lineId : null,
    url: channel.shownUrl,
    form: channel.form,
    quiet_hours: channel.quietHours,
    created_at: isoTime(channel.createdAt),
  }
}

/** `sites` are those of the caller's lines, if it is limited to some. */
export function ruleResource(
  { cause, afterMinutes, lineIds, siteIds, isEnabled }: AlertRule,
  lines: LineLimit = null,
  sites: readonly (SiteId | null)[] = [],
): api.AlertRule {
  return {
    cause,
    after_minutes: afterMinutes,
    phone_line_ids: lineIds && lineIds.filter((id) => includesLine(lines, id)),
    site_ids: siteIds && siteIds.filter((id) => lines === null || sites.includes(id)),
    is_enabled: isEnabled,
  }
}

/** The name of a channel in sentences: "My phone", "the text to …0147", "https://ntfy.example.com". */
export function channelName({ name, handle, shownUrl }: AlertChannel): string {
  return name ?? (handle === null ? (shownUrl ?? '') : `the text to ${maskHandle(handle)}`)
}
