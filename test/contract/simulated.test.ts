import { describeLineDriver } from './line-driver.ts'
import { makeSimulatedRig } from './simulated-rig.ts'

describeLineDriver('the simulated driver', makeSimulatedRig)
