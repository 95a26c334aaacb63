import type { PhoneFacts } from '../../../src/lines/kinds/iphone/cable/lockdown.ts'
import { NUMBER, UDID } from './fake-phones.ts'

/** What a phone that is fit for a line tells. */
export const FACTS: PhoneFacts = {
  reading: 'facts',
  udid: UDID,
  name: 'Line one',
  iosVersion: '18.6.2',
  productType: 'iPhone14,5',
  number: NUMBER,
  battery: { percent: 87, isCharging: true },
  isDeveloperModeOn: true,
  language: 'en',
  isLocked: false,
  timeZone: 'America/New_York',
  simStatus: 'kCTSIMSupportSIMStatusReady',
}
