// One Chromium for all the tests of a process.

import { chromium, type Browser } from 'playwright-core'

import { findChromium } from './chromium.ts'

/**
 * Features of Chromium that are off. The first two load two pages of its own in each new window, for the list below
 * its address bar: twice the work of our page. The rest are those that Playwright turns off: of two such switches
 * Chromium takes the last.
 */
const DISABLED_FEATURES = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

let opened: Promise<Browser> | null = null

/** The browser, a new one if the last broke off. It ends with this process, to whose pipe it listens. */
export function openBrowser(): Promise<Browser> {
  opened ??= launch()
  return opened
}

async function launch(): Promise<Browser> {
  // As root, which tests in a container are, Chromium runs without its sandbox only.
  const args = ['--no-sandbox', `--disable-features=${DISABLED_FEATURES.join(',')}`]
  const executablePath = findChromium() ?? ''
  const browser = await chromium.launch({ executablePath, args })
  browser.on('disconnected', () => (opened = null))
  return browser
}
