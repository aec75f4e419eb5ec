/**
 * Parses a day in UTC (`2026-11-22`) or a time of RFC 3339 to Unix milliseconds; NaN for any other text. `Date.parse` alone accepts days
 * that no month has, and hour 24, and returns another day.
 */
export function parseMoment(text: string): number {
  const form =
    /^(\d{4}-\d\d)-(\d\d)(?:T(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))?$/i
  const [, month = '', day = ''] = form.exec(text) ?? []
  const first = Date.parse(`${month}-01`)
  const isDay = new Date(first + (Number(day) - 1) * msPerDay).getUTCDate() === Number(day)
  return isDay ? Date.parse(text) : Number.NaN
}

const msPerDay = 86_400_000
