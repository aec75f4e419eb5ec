import { useRef } from 'preact/hooks'
import type { Failure } from '../graphql.ts'
import type { PageName } from '../paths.ts'
import { linkTo, navigate, type Place } from '../router.ts'
import { toolTexts } from '../texts-tools.ts'
import { readPasted } from './pasted.ts'
import { ToolHeading } from './tool-nav.tsx'

/** A field to paste a value into. What is asked stands in the address behind `#`, which browsers send to no one. */

const words = toolTexts.paste

interface PasteHeadProps {
  readonly words: {
    readonly title: string
    readonly intro: string
    /** What the button says. */
    readonly act: string
  }
  readonly place: Place
  /** Why the gateway does not answer what was asked. */
  readonly failure: Failure | undefined
}

/** What the tools that are given a value begin with: what they do, the field, and why there is no answer. */
export function PasteHead({ words: { title, intro, act }, place, failure }: PasteHeadProps) {
  return (
    <>
      <ToolHeading title={title} />
      <p class="intro">{intro}</p>
      <Paste place={place} act={act} />
      {failure !== undefined && (
        <p class="failure" role="alert">
          {failure.message}
        </p>
      )}
    </>
  )
}

function Paste({ place, act }: { readonly place: Place; readonly act: string }) {
  const area = useRef<HTMLTextAreaElement>(null)
  const pasted = readPasted(place.fragment)
  const ask = () => navigate(linkToValue(place.name, area.current?.value.trim() ?? ''))
  return (
    <form
      class="paste"
      onSubmit={(event) => {
        event.preventDefault()
        ask()
      }}
    >
      <label for="pasted">{words.label}</label>
      <textarea
        ref={area}
        id="pasted"
        rows={6}
        spellcheck={false}
        autocomplete="off"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) ask()
        }}
        defaultValue={place.fragment}
      />
      <p>
        <button type="submit" class="button">
          {act}
        </button>{' '}
        <span class="muted">{words.hint}</span>
      </p>
      {pasted.is === 'PROBLEM' && (
        <div class="failure" role="alert">
          <strong>
            <span aria-hidden="true">✕</span> {pasted.sentence}
          </strong>
          <SearchFor text={place.fragment} />
        </div>
      )}
    </form>
  )
}

/** Leads to what the ledger knows of a text. */
export function SearchFor({ text }: { readonly text: string }) {
  return (
    <p>
      <a class="link-in-text" href={linkTo('search', {}, { q: text.trim().slice(0, 200) })}>
        {words.search}
      </a>
    </p>
  )
}

/** The address of a tool that is given a value. */
export function linkToValue(tool: PageName, text: string): string {
  return `${linkTo(tool)}#${encodeURIComponent(text)}`
}
