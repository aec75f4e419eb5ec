import { texts } from '../texts.ts'
import { Copy } from './copy.tsx'
import { Section } from './facts.tsx'

/** Bytes in rows of sixteen, with the place of each row. */
export function Bytes({ of: hex }: { readonly of: string }) {
  const bytes = hex.slice(2).match(/../g) ?? []
  const rows = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, n) => {
    const row = bytes.slice(16 * n, 16 * n + 16).join(' ')
    return `${(16 * n).toString(16).padStart(4, '0')}  ${row}`
  })
  return (
    <Section
      title={texts.bytes.title}
      aside={
        <span class="muted">
          {texts.bytes.count(bytes.length)} <Copy text={hex} />
        </span>
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: on a telephone it is wider than the window, and scrolled by keyboard too */}
      <pre class="bytes" tabIndex={0}>
        {rows.join('\n')}
      </pre>
    </Section>
  )
}
