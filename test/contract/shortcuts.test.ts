import { describeLineDriver } from './line-driver.ts'
import { makeShortcutsRig } from './shortcuts-rig.ts'

describeLineDriver('the Shortcuts driver', makeShortcutsRig)
