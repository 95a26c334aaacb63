import type { AlertChannel, AlertNotice } from '../../api/alerts.ts'
import { numberWords } from '../numbers.ts'

/** "My phone", "+1 202 555 0147", "https://ntfy.example.com". */
export function channelName({ name, to, url }: AlertChannel): string {
  return name ?? (to === null ? (url ?? '') : numberWords(to))
}

const WORDS: Readonly<Record<string, string>> = {
  waiting: 'waiting',
  handed_over: 'may have arrived',
  done: 'sent',
  failed: 'failed',
  no_line: 'no line can send',
  recipient_opted_out: 'the phone texted STOP',
  own_number: "it's the number of one of your lines",
  uncertain: 'it may have arrived',
  restored: 'it comes from a backup',
}

/** "sent", "waiting: no line can send", "failed: the URL answered 404". */
export function noticeOutcome({ status, error }: AlertNotice): string {
  return [status, error ?? []]
    .flat()
    .map((code) => WORDS[code] ?? code.replace('http_', 'the URL answered ').replaceAll('_', ' '))
    .join(': ')
}
