import { useSignal } from '@preact/signals'
import { loaded } from '../build.ts'
import { detailTexts } from '../texts-details.ts'

/** A text as a QR code, generated on demand. */

const words = detailTexts.qrCode

/** The squares of a code, by column and row. */
interface Squares {
  readonly size: number
  get(x: number, y: number): boolean
}

/** Width of the quiet zone that QR code readers require, in squares. */
const edge = 4

export function QrCode({ text }: { readonly text: string }) {
  const squares = useSignal<Squares | undefined>(undefined)
  const make = async () => {
    const code = await loaded(import('lean-qr'))
    squares.value = code?.generate(text)
  }
  if (squares.value === undefined) {
    return (
      <button type="button" class="button" onClick={make}>
        {words.button}
      </button>
    )
  }
  const side = squares.value.size + 2 * edge
  return (
    <svg class="qr-code" viewBox={`0 0 ${side} ${side}`} role="img" aria-label={words.label(text)}>
      <path class="qr-ground" d={`M0 0h${side}v${side}H0z`} />
      <path class="qr-squares" d={pathOf(squares.value)} />
    </svg>
  )
}

function pathOf(squares: Squares): string {
  const places = Array.from({ length: squares.size }, (_, n) => n)
  return places
    .flatMap((y) =>
      places.filter((x) => squares.get(x, y)).map((x) => `M${x + edge} ${y + edge}h1v1h-1z`),
    )
    .join('')
}
