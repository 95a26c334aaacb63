// A page to print and hang up: "Text us", with the number of a line and a QR code that opens a text to it.

import type { PhoneLine } from '../api/phone-lines.ts'
import { groupedNumber } from '../domain/handle.ts'
import { qrCode } from './dashboard-views.ts'

const STYLE =
  'body{font:24px/1.4 system-ui,sans-serif;text-align:center;margin:8vh auto;max-width:30rem;color:#000;background:#fff}' +
  'h1{font-size:4rem;margin:0}svg{width:70%;margin:2rem 0}.number{font-size:2.25rem;font-weight:600;white-space:nowrap}' +
  '@page{margin:2cm}'

export function posterPage({ phone_number: number, label }: PhoneLine): string {
  const name = label === null ? '' : `<p>${Bun.escapeHTML(label)}</p>`
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Text us</title>',
    '<meta name="viewport" content="width=device-width">',
    `<style>${STYLE}</style><h1>Text us</h1>${name}${qrCode(`sms:${number}`)}`,
    `<p class="number">${Bun.escapeHTML(groupedNumber(number))}</p>`,
    '<p>Scan the code with your camera, or send a text to this number.</p></html>',
  ].join('\n')
}
