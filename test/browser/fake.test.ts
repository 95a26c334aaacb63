// The dashboard of `hookline fake`, as a container with a mapped port shows it.

import { expect } from 'bun:test'

import { mapPort, startFake } from '../support/fake-process.ts'
import { testNeeding } from '../support/needs.ts'
import { openBrowser } from './browser.ts'
import { findChromium } from './chromium.ts'

testNeeding('Chromium', findChromium() !== null)(
  'the page of a fake is signed in behind a mapped port, and offers nobody to sign out',
  async () => {
    const { child, ready } = await startFake('exec "$0" fake --host 0.0.0.0 --port 0 --print json')
    using mapped = await mapPort(Number(new URL(ready.url).port))
    const page = await (await openBrowser()).newPage({ baseURL: mapped.url })

    await page.goto('/#/settings')
    await page.getByRole('heading', { name: 'About' }).waitFor()

    const words = await page.locator('body').innerText()
    expect(words).toContain('This is hookline fake')
    expect(words).toContain('Health')
    expect(words).not.toMatch(/Sign out|Security/)
    await page.close()
    child.kill('SIGTERM')
  },
  120_000,
)
