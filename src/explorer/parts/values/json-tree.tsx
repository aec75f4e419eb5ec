import type { ComponentChildren } from 'preact'
import { grouped, words as wordsOf } from '../../format.ts'
import { toolTexts } from '../../texts-tools.ts'
import { isObject } from '../same.ts'
import { Amount } from './amount.tsx'
import { Copy } from './copy.tsx'
import { Id } from './id.tsx'
import { Slot } from './moments.tsx'

/** The detail of a broken rule as a tree: values with their units, and ids as links. */

const words = toolTexts.tree

export function JsonTree({ of: value }: { readonly of: unknown }) {
  return <Node name="" of={value} />
}

interface NodeProps {
  /** Name of the member; for an element, the name of its list. */
  readonly name: string
  readonly of: unknown
}

function Node({ name, of: value }: NodeProps) {
  if (Array.isArray(value)) return <Elements name={name} of={value} />
  if (typeof value !== 'object' || value === null) return <Leaf name={name} of={value} />
  return (
    <dl class="tree">
      {Object.entries(value).map(([member, of]) => (
        <div key={member} class={isObject(of) ? 'tree-inner' : undefined}>
          <dt>{wordsOf(member)}</dt>
          <dd>
            <Node name={member} of={of} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Elements({ name, of }: { readonly name: string; readonly of: readonly unknown[] }) {
  if (of.length === 0) return <span class="muted">{words.none}</span>
  return (
    <ol class="tree-elements" aria-label={`${wordsOf(name)}: ${words.elements(of.length)}`}>
      {of.map((element, n) => (
        <li key={n}>
          <Node name={name} of={element} />
        </li>
      ))}
    </ol>
  )
}

/** The page of the id in each member. */
const pageByName = {
  transactionId: 'transaction',
  accountId: 'account',
  issuerId: 'account',
  nftId: 'nft',
  anchorId: 'anchor',
  delegationId: 'delegation',
  foundryId: 'foundry',
} as const

const mana = new Set(['mana'])
const slots = new Set(['slot', 'creationSlot', 'expirySlot'])

function Leaf({ name, of: value }: NodeProps): ComponentChildren {
  const text = String(value)
  if (Object.hasOwn(pageByName, name) && /[1-9a-f]/.test(text.slice(2))) {
    return <Id of={pageByName[name as keyof typeof pageByName]} id={text} isWhole />
  }
  if (/amount$/i.test(name)) return <Amount value={text} />
  if (slots.has(name)) return <Slot index={Number(text)} />
  if (/^[0-9]+$/.test(text) && name !== 'networkId') {
    return (
      <span class="count">
        {grouped(text)}
        {mana.has(name) && <span class="unit"> {words.mana}</span>}
      </span>
    )
  }
  return (
    <span class="id id-whole">
      <span>{text}</span>
      {text.length > 16 && <Copy text={text} />}
    </span>
  )
}
