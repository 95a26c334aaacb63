// One Chromium for all the tests. Where there is none, they are left out.

import { test } from 'bun:test'
import { existsSync } from 'node:fs'

import { chromium, type Browser } from 'playwright-core'

import { CHROMIUM } from './chromium.ts'

const TIMEOUT_MS = 90_000

let opened: Promise<Browser> | null = null

/** The browser, a new one where it broke off. It ends with this process, to whose pipe it listens. */
export function openBrowser(): Promise<Browser> {
  opened ??= launch()
  return opened
}

async function launch(): Promise<Browser> {
  // As root, which tests in a container are, Chromium runs without its sandbox only.
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  browser.on('disconnected', () => (opened = null))
  return browser
}

/** A test that needs the browser. */
export function story(name: string, run: () => Promise<void>, timeoutMs = TIMEOUT_MS): void {
  test.if(existsSync(CHROMIUM))(name, run, timeoutMs)
}
