import type { ComponentChildren } from 'preact'
import { texts } from '../../texts.ts'
import { Section } from '../facts.tsx'
import { Copy } from '../values/copy.tsx'

/** Components that show bytes. */

interface BytesSectionProps {
  readonly of: string
  readonly title: string
  readonly children: ComponentChildren
}

/** A section about bytes, with their count and a copy button. */
export function BytesSection({ of: hex, title, children }: BytesSectionProps) {
  return (
    <Section
      title={title}
      aside={
        <span class="muted">
          {texts.bytes.count((hex.length - 2) / 2)} <Copy text={hex} />
        </span>
      }
    >
      {children}
    </Section>
  )
}

/** Rows of bytes in a scrollable frame. */
export function ScrolledBytes({ children }: { readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard can scroll only a focused element
    <pre class="bytes" tabIndex={0}>
      {children}
    </pre>
  )
}
