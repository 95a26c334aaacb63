import { expect, test } from 'bun:test'

import { Metrics } from '../../src/system/metrics.ts'

test('counters, gauges and histograms are written in the text format of Prometheus', () => {
  const metrics = new Metrics()

  metrics.count('sent_total', 'Messages sent.', { line: 'a"b\n' })
  metrics.count('sent_total', 'Messages sent.', { line: 'a"b\n' }, 2)
  metrics.onCollect(() => metrics.set('pending', 'Deliveries that wait.', 7))
  metrics.observe('seconds', 'Time of an attempt.', 0.3, { outcome: 'ok' })
  metrics.observe('seconds', 'Time of an attempt.', 20, { outcome: 'ok' })

  metrics.observe('pause_seconds', 'Time without one.', 7)

  expect(metrics.text()).toBe(`# HELP sent_total Messages sent.
# TYPE sent_total counter
sent_total{line="a\\"b\\n"} 3
# HELP seconds Time of an attempt.
# TYPE seconds histogram
seconds_bucket{outcome="ok",le="0.005"} 0
seconds_bucket{outcome="ok",le="0.01"} 0
seconds_bucket{outcome="ok",le="0.025"} 0
seconds_bucket{outcome="ok",le="0.05"} 0
seconds_bucket{outcome="ok",le="0.1"} 0
seconds_bucket{outcome="ok",le="0.25"} 0
seconds_bucket{outcome="ok",le="0.5"} 1
seconds_bucket{outcome="ok",le="1"} 1
seconds_bucket{outcome="ok",le="2.5"} 1
seconds_bucket{outcome="ok",le="5"} 1
seconds_bucket{outcome="ok",le="10"} 1
seconds_bucket{outcome="ok",le="+Inf"} 2
seconds_sum{outcome="ok"} 20.3
seconds_count{outcome="ok"} 2
# HELP pause_seconds Time without one.
# TYPE pause_seconds histogram
${[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5].map((le) => `pause_seconds_bucket{le="${le}"} 0\n`).join('')}pause_seconds_bucket{le="10"} 1
pause_seconds_bucket{le="+Inf"} 1
pause_seconds_sum 7
pause_seconds_count 1
# HELP pending Deliveries that wait.
# TYPE pending gauge
pending 7
`)
})
