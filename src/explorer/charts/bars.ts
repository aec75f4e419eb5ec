import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

/** A bar chart over time, with failed transactions on top of the others. */

export interface BarSeries {
  /** Start of each bar, as Unix time in seconds. */
  readonly seconds: readonly number[]
  readonly accepted: readonly number[]
  readonly failed: readonly number[]
}

export interface BarChart {
  show(series: BarSeries, resolution: string): void
  close(): void
}

/** A pattern of diagonal lines, so that failed transactions differ by more than their colour. */
function hatched(colour: string): string | CanvasPattern {
  const tile = document.createElement('canvas')
  tile.width = 6
  tile.height = 6
  const lines = tile.getContext('2d')
  if (lines === null) return colour
  lines.strokeStyle = colour
  lines.lineWidth = 2.5
  for (const from of [-6, 0, 6]) {
    lines.moveTo(from, 6)
    lines.lineTo(from + 6, 0)
  }
  lines.stroke()
  return lines.createPattern(tile, 'repeat') ?? colour
}

/** Label of a time in UTC, as in the table of the same numbers: the time, or the date at midnight. The days of the ledger are those of UTC. */
function label(seconds: number, stepSeconds: number): string {
  const moment = new Date(1000 * seconds).toISOString()
  const day = moment.slice(5, 10)
  const time = moment.slice(11, 16)
  return stepSeconds >= 86_400 || time === '00:00' ? day : time
}

const heightPx = 200

const spans: Readonly<Record<string, number>> = { MINUTE: 60, HOUR: 3_600, DAY: 86_400 }

export function createBarChart(place: HTMLElement, names: SeriesNames): BarChart {
  let spanSeconds = 60
  const range = (from: number, to: number): [number, number] => [
    from - spanSeconds / 2,
    to + spanSeconds / 2,
  ]
  const plot = new uPlot(optionsOf(place, names, range), [[], [], []], place)
  const resize = new ResizeObserver(() => {
    plot.setSize({ width: place.clientWidth, height: heightPx })
  })
  resize.observe(place)
  return {
    show: ({ seconds, accepted, failed }, resolution) => {
      spanSeconds = spans[resolution] ?? 60
      const sums = accepted.map((one, n) => one + (failed[n] ?? 0))
      plot.setData([[...seconds], sums, [...accepted]])
    },
    close: () => {
      resize.disconnect()
      plot.destroy()
    },
  }
}

interface SeriesNames {
  readonly accepted: string
  readonly failed: string
}

function optionsOf(
  place: HTMLElement,
  names: SeriesNames,
  range: (from: number, to: number) => [number, number],
): uPlot.Options {
  const style = getComputedStyle(place)
  // The browser resolves the colour for the theme: a canvas may not support CSS variables or colours of two themes.
  const colour = (name: string) => {
    place.style.color = `var(${name})`
    return style.color
  }
  // 1, unless the user has chosen another text size in the browser.
  const scale = Number.parseFloat(style.fontSize) / 15
  const axis: uPlot.Axis = {
    stroke: colour('--muted'),
    font: `${12 * scale}px ${style.fontFamily}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: place.clientWidth,
    height: heightPx,
    padding: [8, 24, 0, 0],
    legend: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(1000 * seconds), 'UTC'),
    cursor: { points: { show: false }, drag: { setScale: false }, y: false },
    scales: {
      x: { range: (_, from, to) => range(from, to) },
      y: { range: (_, __, max) => [0, Math.max(4, max * 1.1)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        values: (_, moments, __, ___, stepSeconds) => moments.map((one) => label(one, stepSeconds)),
        incrs: [60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800, 2_592_000],
      },
      {
        ...axis,
        size: 48 * scale,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5],
      },
    ],
    series: [
      {},
      seriesOf(names.failed, hatched(colour('--failed'))),
      seriesOf(names.accepted, colour('--accent')),
    ],
    // The bars of failed transactions stand on the others. Behind them, their pattern would be seen at the edges.
    bands: [{ series: [1, 2] }],
  }
}

function seriesOf(name: string, fill: string | CanvasPattern): uPlot.Series {
  const bars = uPlot.paths.bars?.({ size: [0.8, 24], radius: 0.1 })
  return {
    label: name,
    fill: () => fill,
    points: { show: false },
    ...(bars !== undefined && { paths: bars }),
  }
}
