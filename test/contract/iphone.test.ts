import { makeIphoneRig } from './iphone-rig.ts'
import { describeLineDriver } from './line-driver.ts'

describeLineDriver('the iPhone driver', makeIphoneRig)
