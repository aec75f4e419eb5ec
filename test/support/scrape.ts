/** The metrics of a gateway, read as Prometheus reads them. */
export interface Scrape {
  /** The metric names in the order of the response, including those of the histogram series. */
  readonly names: ReadonlySet<string>
  /** Whether there is a series with the name. */
  has(name: string): boolean
  /** The sum of the series with a name and labels; 0 if there is none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number
  /** The values of a label among the series with a name. */
  labels(name: string, label: string): readonly string[]
}

/** Requests the metrics, and fails on a line that violates the text format. */
export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(url)
  const type = response.headers.get('content-type')
  if (type !== 'text/plain; version=0.0.4; charset=utf-8') throw new Error(`${url}: ${type}`)
  const lines = (await response.text()).split('\n').filter((line) => line !== '')
  const series = lines.filter((line) => !line.startsWith('#')).map(seriesOf)
  const named = lines.flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? [])
  return {
    names: new Set([...named, ...series.map(({ name }) => name)]),
    has: (name) => series.some((one) => one.name === name),
    sum: (name, labels = {}) =>
      series
        .filter((one) => one.name === name)
        .filter((one) => Object.entries(labels).every(([key, value]) => one.labels[key] === value))
        .reduce((sum, { value }) => sum + value, 0),
    labels: (name, label) => [
      ...new Set(series.flatMap((one) => (one.name === name ? (one.labels[label] ?? []) : []))),
    ],
  }
}

interface Series {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

function seriesOf(line: string): Series {
  const [, name, labels = '', value] = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? []
  if (name === undefined || value === undefined) throw new Error(`no series: ${line}`)
  const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/gi)]
  return {
    name,
    labels: Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, text])),
    value: Number(value),
  }
}
