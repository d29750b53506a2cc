"""Words of titles that do not tell one call from another, in small letters and without accents."""

from __future__ import annotations

from typing import Final

__all__ = ["GENERIC", "THEMES"]

_GENERIC: Final = """
a all an and any are as at be by das de del der des die du el en et for from fur il in into is it its la las le les
los no not of on only or our para per por pour that the their this to un und une up us via we with y you your

accepting announcement annual applicants application applications apply applying available biannual biennale
biennial call calling calls city closing commission commissions committee community competition competitions contest
contests council county current date deadline due edition enter entries entry event events exhibit exhibition
exhibitions exhibits extended fair fairs fall fellowship fellowships festival festivals final first foundation free
fund funding galleries gallery global grant grants group guest individual international invitation invitational
invited juried juror jury local member members membership museum national new online open opening opens
opportunities opportunity prize prizes program programme programs project projects proposal proposals prospectus
public qualifications quarterly recurring region regional request requests residence residencies residency rfa rfp
rfq round salon scholarship scholarships season seasonal second seeking show showcase showcases shows site society
solo special sponsored spring state statewide stipend student students submission submissions submit summer support
third triennial university upcoming various vendor vendors virtual volunteer wanted winners winter work works
workshop workshops world worldwide year yearly young youth

art artist artistic artists arts artwork artworks award awards contemporary craft crafts creative creatives creator
creators design designer designers emerging established fine maker makers mural muralist muralists murals painter
painters performer performers photographer photographers sculptor sculptors teaching visual writer writers

april august autumn december eighth february fifth fourth january july june march may ninth november october
september seventh sixth tenth

about academic academics administration affiliated aid assistant associate bank board boards business career careers
classes contact department departments development director directory eligibility employee employer employers
employment equal faculty financial find graduate graduates grantees graphic graphics home incentives information
internship internships job jobs junior learn lecturer lecturers manager meeting meetings more motion news openings
overview partnership people portal position positions post posts rankings recipients registrar research resources
senior services staff verification view

abierta abierto appel arte artista artistas artiste artistes artisti aufruf ausschreibung ausstellung bando beca
bewerbung bourse candidature candidatures chamada concorso concours concurso convocatoria convocatorias edital
exposicion exposition kunst kunstenaars kunstler kunstlerinnen mostra offene offener oproep preis premio prix projet
projets residences residencia residencias residenza stipendium wettbewerb
"""
_THEMES: Final = """
abstract abstraction abstracts animal animals book books botanical ceramic ceramics clay collage color colors colour
colours digital drawing drawings fabric fauna fiber fibre figurative figure film flora floral flowers garden glass
illustration images installation installations jewelry landscape landscapes light media medium metal mixed music
nature ocean oil outdoor painting paintings paper pastel pastels performance photo photography photos portrait
portraits posters pottery print printmaking prints quilt quilts sculpture sculptures seascape seascapes sound studio
studios temporary textile textiles theater theatre video wall walls watercolor watercolors wildlife wood writing

black blue body celebration clouds cultural culture dream dreams earth faces family fantasy flower form gold gray
green grey heritage history human identity joy large life love memory mini miniature miniatures night orange
patterns pink purple red self shadow shape shapes sky small still sustainability theme themed themes urban vision
visions white women womens yellow

airport avenue bridge building campus center centre church college downtown fire garage hall hospital house library
market memorial park parks plaza police river school square station street town village

america american california carolina dakota east eastern england florida hampshire jersey mexico north northern
south southern texas virginia washington west western york
"""
#: They say that it is a call, of what sort, for whom, and on which part of a site: any call may be called so.
GENERIC: Final = frozenset(_GENERIC.split())
#: What many calls are about, made of, or shown at: alone they tell nothing, beside a word of its own they do.
THEMES: Final = frozenset(_THEMES.split())
