import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

/** Bars over time, those that failed on top of the others. */

export interface BarSeries {
  /** Unix time. */
  readonly seconds: readonly number[]
  readonly accepted: readonly number[]
  readonly failed: readonly number[]
}

export interface BarChart {
  show(series: BarSeries, resolution: string): void
  close(): void
}

/** Lines aslant, so that what failed differs by more than its colour. */
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

/** The hour of the reader, and the day at its beginning. */
function label(seconds: number, stepSeconds: number): string {
  const moment = new Date(1000 * seconds)
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${two(moment.getMonth() + 1)}-${two(moment.getDate())}`
  const time = `${two(moment.getHours())}:${two(moment.getMinutes())}`
  return stepSeconds >= 86_400 || time === '00:00' ? day : time
}

const heightPx = 200

const spans: Readonly<Record<string, number>> = { MINUTE: 60, HOUR: 3_600, DAY: 86_400 }

export function createBarChart(
  place: HTMLElement,
  names: { readonly accepted: string; readonly failed: string },
): BarChart {
  let spanSeconds = 60
  const style = getComputedStyle(place)
  // As the browser resolves it for the theme: a canvas need not know variables, nor two colours in one.
  const colour = (name: string) => {
    place.style.color = `var(${name})`
    return style.color
  }
  const bars = uPlot.paths.bars?.({ size: [0.8, 24], radius: 0.1 })
  const series = (label: string, fill: string | CanvasPattern): uPlot.Series => ({
    label,
    fill: () => fill,
    points: { show: false },
    ...(bars !== undefined && { paths: bars }),
  })
  const axis: uPlot.Axis = {
    stroke: colour('--muted'),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  }
  const plot = new uPlot(
    {
      width: place.clientWidth,
      height: heightPx,
      padding: [8, 24, 0, 0],
      legend: { show: false },
      cursor: { points: { show: false }, drag: { setScale: false }, y: false },
      scales: {
        x: { range: (_, from, to) => [from - spanSeconds / 2, to + spanSeconds / 2] },
        y: { range: (_, __, most) => [0, Math.max(4, most * 1.1)] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          values: (_, moments, __, ___, stepSeconds) =>
            moments.map((one) => label(one, stepSeconds)),
          incrs: [60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800, 2_592_000],
        },
        { ...axis, size: 48, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5] },
      ],
      // What failed is drawn from zero to the sum, and the others over it.
      series: [
        {},
        series(names.failed, hatched(colour('--failed'))),
        series(names.accepted, colour('--accent')),
      ],
    },
    [[], [], []],
    place,
  )
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
