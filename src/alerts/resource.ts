import type * as api from '../api/alerts.ts'
import { maskHandle } from '../domain/handle.ts'
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

export function noticeResource(notice: NoticeRow): api.AlertNotice {
  return {
    id: notice.id,
    channel_id: notice.channelId,
    kind: notice.kind,
    status: notice.status,
    text: notice.text,
    attempts: notice.attempts,
    message_id: notice.messageId,
    error: notice.error,
    created_at: isoTime(notice.createdAt),
    handed_over_at: isoTimeOrNull(notice.handedOverAt),
  }
}

/** Only the owner sees the whole number. */
export function channelResource(channel: AlertChannel, isOwner: boolean): api.AlertChannel {
  const { handle } = channel
  return {
    id: channel.id,
    kind: channel.kind,
    name: channel.name,
    to: handle === null || isOwner ? handle : maskHandle(handle),
    phone_line_id: channel.lineId,
    url: channel.shownUrl,
    form: channel.form,
    quiet_hours: channel.quietHours,
    created_at: isoTime(channel.createdAt),
  }
}

export function ruleResource({
  cause,
  afterMinutes,
  lineIds,
  isEnabled,
}: AlertRule): api.AlertRule {
  return {
    cause,
    after_minutes: afterMinutes,
    phone_line_ids: lineIds,
    is_enabled: isEnabled,
  }
}

/** The name of a channel in sentences: "My phone", "the text to …0147", "https://ntfy.example.com". */
export function channelName({ name, handle, shownUrl }: AlertChannel): string {
  return name ?? (handle === null ? (shownUrl ?? '') : `the text to ${maskHandle(handle)}`)
}
