import type { HealthFinding } from '../../src/api/health.ts'

/** A finding of the health catalogue, with all its fields. */
export function finding(told: Partial<HealthFinding> & { readonly code: string }): HealthFinding {
  return {
    severity: 'warning',
    title: `About ${told.code}`,
    why: 'Why.',
    fix: 'Fix.',
    line_id: null,
    about: told.line_id ? { kind: 'line', id: told.line_id } : { kind: 'relay', id: null },
    since: '2026-11-21T10:00:00.000Z',
    depends_on: null,
    ...told,
  }
}
