"""schema.org: its names without their prefixes, and which type is a kind of which."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

__all__ = ["is_a", "short", "subtypes"]

_PREFIX = re.compile(r"(?:https?:)?//(?:www\.)?schema\.org/|schema(?:\.org)?:|sdo:", re.IGNORECASE)


def short(name: str) -> str:
    """A type's or property's name without the URL or prefix of schema.org; another vocabulary's stays as it is.

    >>> short("https://schema.org/Product"), short("schema:name"), short("http://xmlns.com/foaf/0.1/Person")
    ('Product', 'name', 'http://xmlns.com/foaf/0.1/Person')
    """
    name = name.strip()
    if found := _PREFIX.match(name):
        return name[found.end() :].strip("/#") or name
    return name


@cache
def subtypes(name: str) -> frozenset[str]:
    """A type and all that are a kind of it, as far as pages use them."""
    found = {name}
    for child in _CHILDREN.get(name, "").split():
        found |= subtypes(child)
    return frozenset(found)


def is_a(types: object, wanted: Iterable[str]) -> bool:
    """Whether a thing's `@type`, one or several, is one of the wanted types or a kind of one."""
    given = {types} if isinstance(types, str) else set(filter(None, types)) if isinstance(types, list) else set()
    return any(not given.isdisjoint(subtypes(name)) for name in wanted)


#: Type -> the kinds of it. Not all of schema.org: the branches that readers ask for.
_CHILDREN: dict[str, str] = {
    "CreativeWork": "Article Book Course Dataset Game HowTo MediaObject Menu Message Movie MusicComposition "
    "MusicPlaylist MusicRecording Painting Photograph Play Poster Question Quotation Review Sculpture "
    "SoftwareApplication SoftwareSourceCode Thesis TVSeries TVSeason TVEpisode VisualArtwork WebPage WebSite Claim "
    "Comment Conversation Episode CreativeWorkSeries CreativeWorkSeason Collection DigitalDocument Drawing Map "
    "WebContent WebPageElement ExercisePlan Guide LearningResource Legislation Manuscript PodcastSeries",
    "Article": "NewsArticle BlogPosting TechArticle ScholarlyArticle Report SocialMediaPosting SatiricalArticle "
    "AdvertiserContentArticle",
    "NewsArticle": "AnalysisNewsArticle AskPublicNewsArticle BackgroundNewsArticle OpinionNewsArticle "
    "ReportageNewsArticle ReviewNewsArticle",
    "ScholarlyArticle": "MedicalScholarlyArticle",
    "TechArticle": "APIReference",
    "SocialMediaPosting": "BlogPosting DiscussionForumPosting",
    "BlogPosting": "LiveBlogPosting",
    "HowTo": "Recipe",
    "Review": "ClaimReview CriticReview EmployerReview MediaReview Recommendation UserReview",
    "CriticReview": "ReviewNewsArticle",
    "MediaObject": "AudioObject DataDownload ImageObject VideoObject MusicVideoObject 3DModel",
    "AudioObject": "Audiobook PodcastEpisode",
    "SoftwareApplication": "MobileApplication WebApplication VideoGame",
    "Game": "VideoGame",
    "Book": "Audiobook",
    "Movie": "",
    "WebPage": "AboutPage CheckoutPage CollectionPage ContactPage FAQPage ItemPage MedicalWebPage ProfilePage QAPage "
    "RealEstateListing SearchResultsPage",
    "CollectionPage": "MediaGallery ImageGallery VideoGallery",
    "Comment": "Answer CorrectionComment Question",
    "Course": "",
    "Episode": "PodcastEpisode RadioEpisode TVEpisode",
    "CreativeWorkSeries": "BookSeries MovieSeries Periodical PodcastSeries RadioSeries TVSeries VideoGameSeries",
    "Periodical": "Newspaper Magazine ComicSeries",
    "VisualArtwork": "CoverArt ComicCoverArt",
    "MusicPlaylist": "MusicAlbum MusicRelease",
    "Product": "DietarySupplement Drug IndividualProduct ProductCollection ProductGroup ProductModel SomeProducts "
    "Vehicle",
    "Vehicle": "BusOrCoach Car Motorcycle MotorizedBicycle",
    "Offer": "AggregateOffer OfferForLease OfferForPurchase",
    "Rating": "AggregateRating EndorsementRating",
    "AggregateRating": "EmployerAggregateRating",
    "Event": "BusinessEvent ChildrensEvent ComedyEvent CourseInstance DanceEvent DeliveryEvent EducationEvent "
    "EventSeries ExhibitionEvent Festival FoodEvent Hackathon LiteraryEvent MusicEvent PublicationEvent SaleEvent "
    "ScreeningEvent SocialEvent SportsEvent TheaterEvent VisualArtsEvent ConferenceEvent PerformingArtsEvent",
    "PublicationEvent": "BroadcastEvent OnDemandEvent",
    "Organization": "Airline Consortium Cooperative Corporation EducationalOrganization FundingScheme "
    "GovernmentOrganization LibrarySystem LocalBusiness MedicalOrganization NGO NewsMediaOrganization "
    "OnlineBusiness PerformingGroup PoliticalParty Project ResearchOrganization SearchRescueOrganization "
    "SportsOrganization WorkersUnion",
    "EducationalOrganization": "CollegeOrUniversity ElementarySchool HighSchool MiddleSchool Preschool School",
    "OnlineBusiness": "OnlineStore OnlineMarketplace",
    "MedicalOrganization": "Dentist DiagnosticLab Hospital MedicalClinic Pharmacy Physician VeterinaryCare",
    "PerformingGroup": "DanceGroup MusicGroup TheaterGroup",
    "SportsOrganization": "SportsTeam",
    "Project": "ResearchProject FundingAgency",
    "LocalBusiness": "AnimalShelter ArchiveOrganization AutomotiveBusiness ChildCare Dentist DryCleaningOrLaundry "
    "EmergencyService EmploymentAgency EntertainmentBusiness FinancialService FoodEstablishment GovernmentOffice "
    "HealthAndBeautyBusiness HomeAndConstructionBusiness InternetCafe LegalService Library LodgingBusiness "
    "MedicalBusiness ProfessionalService RadioStation RealEstateAgent RecyclingCenter SelfStorage ShoppingCenter "
    "SportsActivityLocation Store TelevisionStation TouristInformationCenter TravelAgency",
    "AutomotiveBusiness": "AutoBodyShop AutoDealer AutoPartsStore AutoRental AutoRepair AutoWash GasStation "
    "MotorcycleDealer MotorcycleRepair",
    "EmergencyService": "FireStation Hospital PoliceStation",
    "EntertainmentBusiness": "AdultEntertainment AmusementPark ArtGallery Casino ComedyClub MovieTheater NightClub",
    "FinancialService": "AccountingService AutomatedTeller BankOrCreditUnion InsuranceAgency",
    "FoodEstablishment": "Bakery BarOrPub Brewery CafeOrCoffeeShop Distillery FastFoodRestaurant IceCreamShop "
    "Restaurant Winery",
    "HealthAndBeautyBusiness": "BeautySalon DaySpa HairSalon HealthClub NailSalon TattooParlor",
    "HomeAndConstructionBusiness": "Electrician GeneralContractor HVACBusiness HousePainter Locksmith MovingCompany "
    "Plumber RoofingContractor",
    "LegalService": "Attorney Notary",
    "LodgingBusiness": "BedAndBreakfast Campground Hostel Hotel Motel Resort VacationRental",
    "Resort": "SkiResort",
    "MedicalBusiness": "Dentist MedicalClinic Optician Pharmacy Physician",
    "SportsActivityLocation": "BowlingAlley ExerciseGym GolfCourse HealthClub PublicSwimmingPool SkiResort "
    "SportsClub StadiumOrArena TennisComplex",
    "Store": "AutoPartsStore BikeStore BookStore ClothingStore ComputerStore ConvenienceStore DepartmentStore "
    "ElectronicsStore Florist FurnitureStore GardenStore GroceryStore HardwareStore HobbyShop HomeGoodsStore "
    "JewelryStore LiquorStore MensClothingStore MobilePhoneStore MovieRentalStore MusicStore OfficeEquipmentStore "
    "OutletStore PawnShop PetStore ShoeStore SportingGoodsStore TireShop ToyStore WholesaleStore",
    "Place": "Accommodation AdministrativeArea CivicStructure Landform LandmarksOrHistoricalBuildings LocalBusiness "
    "Residence TouristAttraction TouristDestination",
    "Accommodation": "Apartment CampingPitch House Room Suite",
    "House": "SingleFamilyResidence",
    "Room": "HotelRoom MeetingRoom",
    "Residence": "ApartmentComplex GatedResidenceCommunity",
    "AdministrativeArea": "City Country SchoolDistrict State",
    "CivicStructure": "Airport Aquarium Beach Bridge BusStation BusStop Campground Cemetery Crematorium "
    "EducationalOrganization EventVenue FireStation GovernmentBuilding Hospital MovieTheater Museum MusicVenue Park "
    "ParkingFacility PerformingArtsTheater PlaceOfWorship Playground PoliceStation PublicToilet RVPark "
    "StadiumOrArena SubwayStation TaxiStand TrainStation Zoo",
    "PlaceOfWorship": "BuddhistTemple Church HinduTemple Mosque Synagogue",
    "Person": "Patient",
    "ItemList": "BreadcrumbList HowToSection HowToStep OfferCatalog",
}
