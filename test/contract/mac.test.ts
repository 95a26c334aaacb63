import { describeLineDriver } from './line-driver.ts'
import { makeMacRig } from './mac-rig.ts'

describeLineDriver('the Mac driver', makeMacRig)
