import { runModel } from './test/boxes/model/model.ts'
const [steps, seed] = process.argv.slice(2).map(Number)
const t = performance.now()
const f = await runModel(steps ?? 1000, seed ?? 1)
console.log(f.line); console.log(f.faults.slice(0, 10)); console.log(f.faults.length, 'faults', Math.round(performance.now() - t), 'ms')
process.exit()
